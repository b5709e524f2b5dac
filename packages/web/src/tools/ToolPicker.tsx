import type { UseQueryResult } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useRef, useState, type KeyboardEvent, type Ref } from 'react';
import type { ToolsView } from '@behalf/contracts';
import { useProgressiveCount } from '../hooks/useProgressiveCount.ts';
import { strings } from '../strings/strings.ts';
import { IconButton } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import fields from '../ui/Field.module.css';
import { Icon } from '../ui/Icon.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { countTools, filterTools, distributeShown, type ToolGroup } from './filterTools.ts';
import type { ToolRef } from './ToolConsole.tsx';
import { ToolGroupView } from './ToolGroupView.tsx';
import styles from './ToolPicker.module.css';

/** Tools that are rendered at once; the others follow while nobody waits. */
const TOOLS_PER_STEP = 40;

/** All tools, server by server, with a search. Arrow keys go from tool to tool. */
export function ToolPicker({
  query,
  current,
  searchRef,
  onSelect,
}: {
  readonly query: UseQueryResult<ToolsView['servers']>;
  readonly current: ToolRef | undefined;
  readonly searchRef: Ref<HTMLInputElement>;
  readonly onSelect: (choice: ToolRef) => void;
}) {
  const words = strings.tools.list;
  const [search, setSearch] = useState('');
  const deferredSearch = useDeferredValue(search);
  const boxRef = useRef<HTMLElement>(null);
  const groups = useMemo(() => filterTools(query.data ?? {}, deferredSearch), [query.data, deferredSearch]);

  // A tool of the list before would take the focus with it when it goes.
  const isStale = search !== deferredSearch;
  const movesDownRef = useRef(false);
  useEffect(() => {
    if (isStale || !movesDownRef.current) return;
    movesDownRef.current = false;
    moveFocus(boxRef.current, 'ArrowDown');
  }, [isStale]);

  function handleKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape' && search !== '') setSearch('');
    else if (isStale && event.key === 'ArrowDown') movesDownRef.current = true;
    else if (moveFocus(boxRef.current, event.key)) event.preventDefault();
  }

  function handleSearch(text: string): void {
    movesDownRef.current = false;
    setSearch(text);
  }

  return (
    <nav ref={boxRef} className={styles['picker']} aria-label={words.title} onKeyDown={handleKeyDown}>
      <div className={styles['head']}>
        <Field label={words.search}>
          {(wiring) => (
            <input
              {...wiring}
              ref={searchRef}
              type="search"
              className={fields['control']}
              placeholder={words.searchHint}
              autoComplete="off"
              value={search}
              onChange={(event) => handleSearch(event.target.value)}
            />
          )}
        </Field>
        <IconButton
          label={words.refresh}
          icon={<Icon name="refresh" />}
          isBusy={query.isFetching}
          onClick={() => void query.refetch()}
        />
      </div>
      <p className={styles['count']} role="status">
        {query.data ? words.count(countTools(groups)) : words.loading}
      </p>
      {query.isPending ? (
        <Skeleton lines={8} />
      ) : (
        <ToolGroups {...{ groups, deferredSearch, current, onSelect }} />
      )}
      {query.data && groups.length === 0 && <p className={styles['count']}>{words.noMatch}</p>}
    </nav>
  );
}

function ToolGroups({
  groups,
  deferredSearch,
  current,
  onSelect,
}: {
  readonly groups: readonly ToolGroup[];
  readonly deferredSearch: string;
  readonly current: ToolRef | undefined;
  readonly onSelect: (choice: ToolRef) => void;
}) {
  const shown = useProgressiveCount(countTools(groups), TOOLS_PER_STEP, deferredSearch);
  const shownCounts = distributeShown(groups, shown);
  return (
    <div className={styles['groups']}>
      {groups.map(({ server, tools }, index) => (
        <ToolGroupView
          key={server.name}
          server={server}
          tools={tools}
          shownCount={shownCounts[index] ?? 0}
          currentTool={current?.server === server.name ? current.tool : undefined}
          onSelect={onSelect}
        />
      ))}
    </div>
  );
}

/** From tool to tool, and between them and the search. Whether the key meant that. */
function moveFocus(boxRef: HTMLElement | null, key: string): boolean {
  if (!boxRef || !['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(key)) return false;
  const input = boxRef.querySelector('input');
  const isTyping = document.activeElement === input;
  if (isTyping && key !== 'ArrowDown') return false;
  const tools = [...boxRef.querySelectorAll<HTMLElement>('[data-tool]')];
  const focusedIndex = tools.findIndex((tool) => tool === document.activeElement);
  if (!isTyping && focusedIndex === -1) return false;
  const next =
    { ArrowDown: focusedIndex + 1, ArrowUp: focusedIndex - 1, Home: 0, End: tools.length - 1 }[key] ??
    focusedIndex;
  if (next === -1) input?.focus();
  else tools[next]?.focus();
  return true;
}
