"""Names for the items of the retriever study's paper (figure_7, table_12), and for all of them."""

for item, figure in ITEMS.items():

    rule:
        name:
            item
        input:
            f"figures/{figure}.pdf",
        localrule: True


rule:
    name:
        "retriever_study"
    input:
        those_shown(*(f"{figure}.pdf" for figure in RETRIEVER_FIGURES)),
    localrule: True
