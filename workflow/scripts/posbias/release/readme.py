"""README.md of a release: what it is, and how figures are drawn from it."""

from posbias.release.archive import SUFFIX
from posbias.release.manifest import Manifest, differs_from_commit
from posbias.release.names import MEASURES

README = "README.md"
TEXT = """\
# {title}

{description}

| | |
| --- | --- |
| made with | {made_with}, commit {commit} |
| configuration | config.yaml, hash {config_hash} |
| seed | {seed} |
| retrievers | {retrievers} |
| measures | {count} files below {measures} |
| run | provenance.json: machine, versions, run times, revisions and licences |
| packages | lock.txt |
| hashes | manifest.json: SHA-256 and size of every file |

## To draw the figures from it

In a checkout of that commit, put the archive and its `.sha256` side by side, take its
configuration out, and tell the workflow to read the archive in the place of measuring:

```
tar -xJOf {archive} config.yaml > measured.yaml
cat > released.yaml <<END
metrics_from: released
release: {{archive: {archive}, sha256: null}}
END
snakemake --cores 2 --configfile measured.yaml released.yaml
```

`sha256: null` stands for the hash in `{archive}.sha256`. The workflow checks every file by its
hash and refuses to draw with another configuration.
"""


DIFFERED = " (files differed from this commit, so that a checkout may draw other figures)"


def readme_text(title: str, description: str, manifest: Manifest) -> str:
    """Return the text of a release's README.md."""
    seed = manifest.seed if isinstance(manifest.seed, list) else [manifest.seed]
    return TEXT.format(
        title=title,
        description=description,
        made_with=manifest.made_with,
        commit=manifest.commit + (DIFFERED if differs_from_commit(manifest.commit) else ""),
        config_hash=manifest.config_hash,
        seed=", ".join(map(str, seed)),
        retrievers=", ".join(manifest.retrievers) or "none",
        count=sum(name.startswith(MEASURES) for name in manifest.files),
        measures=MEASURES,
        archive=f"{manifest.scale}{SUFFIX}",
    )
