import type { ToolsView } from '@behalf/contracts';
import type { UseQueryResult } from '@tanstack/react-query';
import {
  type KeyboardEvent,
  type MouseEvent,
  type Ref,
  memo,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';
import { explainErrorCode } from '../api/explain.ts';
import { encodeSegment } from '../api/request.ts';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { IconButton } from '../ui/Button.tsx';
import fields from '../ui/Field.module.css';
import { Field } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { useProgressiveCount } from '../ui/LongList.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { classNames } from '../ui/classNames.ts';
import { serverStateTones } from '../ui/stateTones.ts';
import type { ToolRef } from './ToolConsole.tsx';
import styles from './ToolPicker.module.css';
import {
  type ListedServer,
  type ListedTool,
  type ToolGroup,
  countTools,
  distributeShown,
  filterTools,
} from './filterTools.ts';
import { toolPath } from './toolLinks.ts';

/** Tools rendered at once; the others follow when the browser is idle. */
const TOOLS_PER_STEP = 40;

/** All tools by server with a search field. Arrow keys move between tools. */
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

  // A tool of the previous list would lose the focus when it is removed.
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

/** Moves the focus between tools and the search field. Returns whether the key was handled. */
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

const TOOLS_PER_CHUNK = 40;
/** In rem, as in the style sheet: all rows have the same height. */
const ROW_HEIGHT_REM = 3.25;

/** A server with its tools, and its missing sign-in or configuration. */
function ToolGroupView({
  server,
  tools,
  shownCount,
  currentTool,
  onSelect,
}: {
  readonly server: ListedServer;
  readonly tools: readonly ListedTool[];
  /** The number of rendered tools. */
  readonly shownCount: number;
  readonly currentTool: string | undefined;
  readonly onSelect: (choice: ToolRef) => void;
}) {
  const words = strings.tools.list;
  const { name, title, state, code = '', incomplete = false } = server;
  const id = `tools-of-${encodeSegment(name)}`;
  const chunks = Array.from(
    { length: Math.ceil(shownCount / TOOLS_PER_CHUNK) },
    (_, index) => index * TOOLS_PER_CHUNK,
  );
  const currentIndex = tools.findIndex((tool) => tool.name === currentTool);
  const isInChunk = (start: number, index: number) => index >= start && index < start + TOOLS_PER_CHUNK;
  return (
    <section className={styles['group']}>
      <div className={styles['server']}>
        <h2 id={id} title={name}>
          {title}
        </h2>
        {state !== 'connected' && <Badge tone={serverStateTones[state]}>{words.states[state]}</Badge>}
      </div>
      {state !== 'connected' && (
        <p className={styles['state']}>
          {(state === 'unreachable' && explainErrorCode(code)?.title) || words.stateTexts[state]}{' '}
          <Link href={`/servers/${encodeSegment(name)}`}>{words.openServer(title)}</Link>
        </p>
      )}
      {state === 'connected' && server.tools.length === 0 && (
        <p className={styles['state']}>{words.noTools}</p>
      )}
      {tools.length > 0 && (
        <div role="list" aria-labelledby={id}>
          {chunks.map((start) => (
            <Chunk
              key={start}
              server={name}
              tools={tools}
              start={start}
              end={Math.min(start + TOOLS_PER_CHUNK, shownCount)}
              // Passed to one chunk only, so that the others are not rendered again when the selection changes.
              currentTool={isInChunk(start, currentIndex) ? currentTool : undefined}
              onSelect={onSelect}
            />
          ))}
        </div>
      )}
      {incomplete && <p className={styles['state']}>{words.incomplete}</p>}
    </section>
  );
}

/** Scrolls the selected tool into view. */
function scrollIntoList(link: HTMLElement | null): void {
  link?.scrollIntoView({ block: 'nearest' });
}

const Chunk = memo(function Chunk({
  server,
  tools,
  start,
  end,
  currentTool,
  onSelect,
}: {
  readonly server: string;
  readonly tools: readonly ListedTool[];
  readonly start: number;
  readonly end: number;
  readonly currentTool: string | undefined;
  readonly onSelect: (choice: ToolRef) => void;
}) {
  function handleClick(event: MouseEvent, tool: string): void {
    // Keeps the browser's behavior for opening a new tab.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onSelect({ server, tool });
  }
  return (
    <div
      role="presentation"
      className={styles['chunk']}
      // Reserves the height of a chunk that is not laid out.
      style={{ containIntrinsicBlockSize: `auto ${(end - start) * ROW_HEIGHT_REM}rem` }}
    >
      {tools.slice(start, end).map(({ name, title, description }) => (
        <div key={name} role="listitem">
          <a
            data-tool=""
            ref={currentTool === name ? scrollIntoList : undefined}
            href={toolPath(server, name)}
            className={classNames(styles['tool'], currentTool === name && styles['current'])}
            aria-current={currentTool === name ? 'page' : undefined}
            onClick={(event) => handleClick(event, name)}
          >
            <span className={styles['name']} title={name}>
              {title || name}
            </span>
            <span className={styles['description']}>{description}</span>
          </a>
        </div>
      ))}
    </div>
  );
});
