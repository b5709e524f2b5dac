import { memo, type MouseEvent } from 'react';
import { Link } from 'wouter';
import { explainErrorCode } from '../api/explain.ts';
import { encodeSegment } from '../api/request.ts';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { classNames } from '../ui/classNames.ts';
import type { ListedServer, ListedTool } from './filterTools.ts';
import { toolPath } from './toolPaths.ts';
import type { ToolRef } from './ToolConsole.tsx';
import styles from './ToolPicker.module.css';
import { serverStateTones } from '../ui/serverStateTones.ts';

const TOOLS_PER_CHUNK = 40;
/** In rem, as in the sheet: every row is as high as every other. */
const ROW_HEIGHT_REM = 3.25;

/** A server with its tools, and what it needs before they can be called. */
export function ToolGroupView({
  server,
  tools,
  shownCount,
  currentTool,
  onSelect,
}: {
  readonly server: ListedServer;
  readonly tools: readonly ListedTool[];
  /** How many of them are rendered so far. */
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
              // To one of them alone: the others need not be rendered anew when another tool is chosen.
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

/** The tool that is shown is in sight also in the list. */
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
    // Whoever wants it in another tab gets it there.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onSelect({ server, tool });
  }
  return (
    <div
      role="presentation"
      className={styles['chunk']}
      // What is out of view needs no layout to have its room, and pushes nothing when it comes into view.
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
