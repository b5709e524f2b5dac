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
import { countTools, filterTools, shareOut, type ToolGroup } from './filterTools.ts';
import type { ToolChoice } from './ToolConsole.tsx';
import { ToolGroupView } from './ToolGroupView.tsx';
import styles from './ToolPicker.module.css';

/** Tools that are rendered at once; the others follow while nobody waits. */
const TOOLS_AT_ONCE = 40;

/** All tools, server by server, with a search. Arrow keys go from tool to tool. */
export function ToolPicker({
  query,
  current,
  searchRef,
  onChoose,
}: {
  readonly query: UseQueryResult<ToolsView['servers']>;
  readonly current: ToolChoice | undefined;
  readonly searchRef: Ref<HTMLInputElement>;
  readonly onChoose: (choice: ToolChoice) => void;
}) {
  const words = strings.tools.list;
  const [search, setSearch] = useState('');
  const wanted = useDeferredValue(search);
  const box = useRef<HTMLElement>(null);
  const groups = useMemo(() => filterTools(query.data ?? {}, wanted), [query.data, wanted]);

  // A tool of the list before would take the focus with it when it goes.
  const isBehind = search !== wanted;
  const goesDown = useRef(false);
  useEffect(() => {
    if (isBehind || !goesDown.current) return;
    goesDown.current = false;
    moveFocus(box.current, 'ArrowDown');
  }, [isBehind]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape' && search !== '') setSearch('');
    else if (isBehind && event.key === 'ArrowDown') goesDown.current = true;
    else if (moveFocus(box.current, event.key)) event.preventDefault();
  }

  function onSearch(text: string): void {
    goesDown.current = false;
    setSearch(text);
  }

  return (
    <nav ref={box} className={styles['picker']} aria-label={words.title} onKeyDown={onKeyDown}>
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
              onChange={(event) => onSearch(event.target.value)}
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
        {query.data ? words.found(countTools(groups)) : words.loading}
      </p>
      {query.isPending ? <Skeleton lines={8} /> : <Groups {...{ groups, wanted, current, onChoose }} />}
      {query.data && groups.length === 0 && <p className={styles['count']}>{words.noMatch}</p>}
    </nav>
  );
}

function Groups({
  groups,
  wanted,
  current,
  onChoose,
}: {
  readonly groups: readonly ToolGroup[];
  readonly wanted: string;
  readonly current: ToolChoice | undefined;
  readonly onChoose: (choice: ToolChoice) => void;
}) {
  const shown = useProgressiveCount(countTools(groups), TOOLS_AT_ONCE, wanted);
  const shares = shareOut(groups, shown);
  return (
    <div className={styles['groups']}>
      {groups.map(({ server, tools }, index) => (
        <ToolGroupView
          key={server.name}
          server={server}
          tools={tools}
          shown={shares[index] ?? 0}
          currentTool={current?.server === server.name ? current.tool : undefined}
          onChoose={onChoose}
        />
      ))}
    </div>
  );
}

/** From tool to tool, and between them and the search. Whether the key meant that. */
function moveFocus(box: HTMLElement | null, key: string): boolean {
  if (!box || !['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(key)) return false;
  const input = box.querySelector('input');
  const isTyping = document.activeElement === input;
  if (isTyping && key !== 'ArrowDown') return false;
  const tools = [...box.querySelectorAll<HTMLElement>('[data-tool]')];
  const at = tools.findIndex((tool) => tool === document.activeElement);
  if (!isTyping && at === -1) return false;
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: tools.length - 1 }[key] ?? at;
  if (next === -1) input?.focus();
  else tools[next]?.focus();
  return true;
}
