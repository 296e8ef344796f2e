"""Lists come page by page, and the last page says that it is the last."""

from __future__ import annotations

import pytest

from penstock.api.paging import Counted, Page, page


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 7])
def test_a_short_list_comes_whole_in_full_pages_and_the_last_one_leads_nowhere(count: int) -> None:
    items, pages = list(range(count)), list[Page[int]]()
    cursor = None
    while not pages or cursor is not None:
        pages.append(Counted(limit=3, cursor=cursor).cut(items))
        cursor = pages[-1].next

    assert [each.items for each in pages] == [items[at : at + 3] for at in range(0, max(count, 1), 3)]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_page_of_which_no_more_was_found_leads_nowhere(count: int) -> None:
    items = list(range(count))

    assert page(items, 3, lambda item: item) == Page(items, None)
