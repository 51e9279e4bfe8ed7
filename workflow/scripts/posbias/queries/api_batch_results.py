"""What the output file and the error file of a batch say of each of its requests."""

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping

from posbias.queries.api_completion import BadBody, read_completion
from posbias.queries.api_errors import ApiFault, fault_of_status, one_line

UNPROCESSED = {"batch_expired", "batch_cancelled"}

Result = dict | ApiFault  # the body of a completion, or what there is instead


def read_results(
    output: bytes, errors: bytes, ids: Container[str], events: Counter
) -> Iterator[tuple[str, Result]]:
    """Yield (custom id, result) once an id, of both files in any order, answers first.

    Lines that are no results, ids of no request of ours and second results are counted in events.
    """
    seen: set[str] = set()
    # Not splitlines: a text may hold separators that are line ends to Python only.
    for raw in (output + b"\n" + errors).split(b"\n"):
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
            custom_id = line["custom_id"]
        except (ValueError, KeyError, TypeError):
            events["bad_result_lines"] += 1
            continue
        if not isinstance(custom_id, str) or custom_id not in ids:
            events["unknown_results"] += 1
        elif custom_id in seen:
            events["duplicate_results"] += 1
        else:
            seen.add(custom_id)
            yield custom_id, _result(line)


def _result(line: Mapping) -> Result:
    response, error = line.get("response"), line.get("error")
    if isinstance(response, Mapping) and response.get("body") is not None:
        body, status = response["body"], response.get("status_code", 200)
        if isinstance(status, int) and status >= 400:
            return fault_of_status(status, body.get("error") if isinstance(body, dict) else body)
        try:
            read_completion("", body)
        except BadBody as fault:
            return ApiFault("retry", "bad_body", str(fault), perhaps_paid=True)
        return body
    if isinstance(error, Mapping):
        code = str(error.get("code"))
        reason = "unprocessed" if code in UNPROCESSED else "batch_error"
        return ApiFault("retry", reason, one_line(f"{code}, {error.get('message')}"))
    return ApiFault("retry", "bad_body", f"neither response nor error: {one_line(line)}")
