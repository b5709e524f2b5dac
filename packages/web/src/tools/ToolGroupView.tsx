import { memo, type MouseEvent } from 'react';
import { Link } from 'wouter';
import { explainErrorCode } from '../api/explain.ts';
import { encodeSegment } from '../api/request.ts';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { classNames } from '../ui/classNames.ts';
import type { ListedServer, ListedTool } from './filterTools.ts';
import { toolAddress } from './toolAddress.ts';
import type { ToolChoice } from './ToolConsole.tsx';
import styles from './ToolPicker.module.css';
import { serverStateTones } from '../ui/serverStateTones.ts';

const TOOLS_OF_CHUNK = 40;
/** In rem, as in the sheet: every row is as high as every other. */
const ROW = 3.25;

/** A server with its tools, and what it needs before they can be called. */
export function ToolGroupView({
  server,
  tools,
  shown,
  currentTool,
  onChoose,
}: {
  readonly server: ListedServer;
  readonly tools: readonly ListedTool[];
  /** How many of them are rendered so far. */
  readonly shown: number;
  readonly currentTool: string | undefined;
  readonly onChoose: (choice: ToolChoice) => void;
}) {
  const words = strings.tools.list;
  const { name, title, state, code = '', incomplete = false } = server;
  const id = `tools-of-${encodeSegment(name)}`;
  const chunks = Array.from(
    { length: Math.ceil(shown / TOOLS_OF_CHUNK) },
    (_, index) => index * TOOLS_OF_CHUNK,
  );
  const at = tools.findIndex((tool) => tool.name === currentTool);
  const isWithin = (start: number, index: number) => index >= start && index < start + TOOLS_OF_CHUNK;
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
              end={Math.min(start + TOOLS_OF_CHUNK, shown)}
              // To one of them alone: the others need not be rendered anew when another tool is chosen.
              currentTool={isWithin(start, at) ? currentTool : undefined}
              onChoose={onChoose}
            />
          ))}
        </div>
      )}
      {incomplete && <p className={styles['state']}>{words.incomplete}</p>}
    </section>
  );
}

/** The tool that is shown is in sight also in the list. */
function showInList(link: HTMLElement | null): void {
  link?.scrollIntoView({ block: 'nearest' });
}

const Chunk = memo(function Chunk({
  server,
  tools,
  start,
  end,
  currentTool,
  onChoose,
}: {
  readonly server: string;
  readonly tools: readonly ListedTool[];
  readonly start: number;
  readonly end: number;
  readonly currentTool: string | undefined;
  readonly onChoose: (choice: ToolChoice) => void;
}) {
  function onClick(event: MouseEvent, tool: string): void {
    // Whoever wants it in another tab gets it there.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onChoose({ server, tool });
  }
  return (
    <div
      role="presentation"
      className={styles['chunk']}
      // What is out of view needs no layout to have its room, and pushes nothing when it comes into view.
      style={{ containIntrinsicBlockSize: `auto ${(end - start) * ROW}rem` }}
    >
      {tools.slice(start, end).map(({ name, title, description }) => (
        <div key={name} role="listitem">
          <a
            data-tool=""
            ref={currentTool === name ? showInList : undefined}
            href={toolAddress(server, name)}
            className={classNames(styles['tool'], currentTool === name && styles['current'])}
            aria-current={currentTool === name ? 'page' : undefined}
            onClick={(event) => onClick(event, name)}
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
