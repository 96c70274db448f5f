"""The Hub for tests behaves as the Hub does, as far as clients see."""

import io
from pathlib import Path

import pytest
from hub_server import READ_TOKEN, WRITE_TOKEN, Fault, Hub
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    BadRequestError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import get_session

NAME = "org/data"


@pytest.fixture
def api(hub: Hub) -> HfApi:
    """A client with a token that may write, and a private dataset."""
    client = HfApi(endpoint=hub.url, token=WRITE_TOKEN)
    client.create_repo(NAME, repo_type="dataset", private=True)
    return client


def add(api: HfApi, **files: bytes) -> str:
    operations = [CommitOperationAdd(name.replace("__", "."), io.BytesIO(text)) for name, text in files.items()]
    return str(api.create_commit(NAME, operations, repo_type="dataset", commit_message="more").oid)


def test_who_may_see_and_write(hub: Hub, api: HfApi) -> None:
    assert api.whoami()["name"] == "someone"
    with pytest.raises(HfHubHTTPError, match="401"):
        HfApi(endpoint=hub.url, token="hf_wrong").dataset_info(NAME)
    with pytest.raises(RepositoryNotFoundError, match="404"):
        HfApi(endpoint=hub.url, token=False).dataset_info(NAME)
    reader = HfApi(endpoint=hub.url, token=READ_TOKEN)
    assert reader.dataset_info(NAME).private
    with pytest.raises(HfHubHTTPError, match="403"):
        reader.create_repo("org/more")


def test_a_gate(hub: Hub, api: HfApi) -> None:
    add(api, a__txt=b"a")
    api.update_repo_settings(NAME, repo_type="dataset", private=False, gated="manual")
    assert api.dataset_info(NAME).gated == "manual"
    with pytest.raises(GatedRepoError):
        api.get_hf_file_metadata(url=f"{hub.url}/datasets/{NAME}/resolve/main/a.txt", token=False)


def test_branches_tags_and_older_commits(hub: Hub, api: HfApi) -> None:
    first = add(api, a__txt=b"a")
    api.create_tag(NAME, tag="v1", repo_type="dataset")
    api.create_branch(NAME, branch="dev", repo_type="dataset")
    add(api, b__txt=b"b")
    assert api.list_repo_files(NAME, repo_type="dataset", revision="v1") == [".gitattributes", "a.txt"]
    refs = api.list_repo_refs(NAME, repo_type="dataset")
    assert {ref.name: ref.target_commit for ref in refs.branches}["dev"] == first
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(NAME, revision="v2")


def test_large_files_are_found_by_their_hash(hub: Hub, api: HfApi) -> None:
    add(api, x__parquet=b"PAR1 and more")
    (info,) = api.get_paths_info(NAME, ["x.parquet"], repo_type="dataset")
    assert info.lfs is not None
    meta = api.get_hf_file_metadata(url=f"{hub.url}/datasets/{NAME}/resolve/main/x.parquet")
    assert (meta.etag, meta.size) == (info.lfs.sha256, 13)
    got = get_session().get(
        f"{hub.url}/datasets/{NAME}/resolve/main/x.parquet", headers={"Authorization": f"Bearer {WRITE_TOKEN}"}
    )
    assert (got.content, got.url.path) == (b"PAR1 and more", f"/cdn/{info.lfs.sha256}")


def test_a_commit_is_whole_or_not_at_all(hub: Hub, api: HfApi) -> None:
    head = add(api, a__txt=b"a")
    both = [CommitOperationAdd("b.txt", b"b"), CommitOperationDelete("never-there.txt")]
    with pytest.raises(HfHubHTTPError, match="doesn't exist"):
        api.create_commit(NAME, both, repo_type="dataset", commit_message="half")
    with pytest.raises(HfHubHTTPError, match="412"):
        api.create_commit(NAME, both[:1], repo_type="dataset", commit_message="late", parent_commit="0" * 40)
    assert api.dataset_info(NAME).sha == head
    with pytest.raises(ValueError, match="README"):
        add(api, README__md=b"---\na: [\n---\n")
    assert hub.store.files("dataset", NAME) == {"a.txt": b"a"}


def test_a_fault_comes_when_it_was_ordered(hub: Hub, api: HfApi, tmp_path: Path) -> None:
    hub.faults = [Fault("GET .*/org/data$", 400, nth=2)]
    assert api.dataset_info(NAME).private
    with pytest.raises(BadRequestError):
        api.dataset_info(NAME)
    assert api.dataset_info(NAME).private
    assert hub.requests[-1] == "GET /api/datasets/org/data"
