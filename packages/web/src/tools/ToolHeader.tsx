import type { ServerToolsView, ToolDetail } from '@behalf/contracts';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { AuthorityBadge } from '../result/AuthorityBadge.tsx';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { Button } from '../ui/Button.tsx';
import styles from './ToolHeader.module.css';

/** A longer description is folded: the form should be in sight. */
const LONG_TEXT = 500;

/** What a tool is called, what its server says about it, and on whose authority it runs. */
export function ToolHeader({
  tool,
  view,
  takesFocus,
}: {
  readonly tool: ToolDetail;
  readonly view: ServerToolsView;
  /** Whether the heading takes the focus when it appears: somebody has chosen the tool here. */
  readonly takesFocus: boolean;
}) {
  const words = strings.tools.panel;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
  }, [takesFocus]);
  const { name, title, annotations = {}, asksFirst } = tool;
  return (
    <header className={styles['header']}>
      <h2 ref={heading} tabIndex={-1} className={styles['title']}>
        {title || name}
      </h2>
      <p className={styles['names']}>
        {title && title !== name && <code>{name}</code>}{' '}
        <Link href={`/servers/${encodeSegment(view.serverName)}`}>{words.on(view.title)}</Link>
      </p>
      <div className={styles['badges']} role="group" aria-label={words.badges}>
        <AuthorityBadge authority={view.authority} />
        {asksFirst && <Badge tone="warning">{words.asksFirst}</Badge>}
        {annotations['readOnlyHint'] === true && <Badge>{words.readOnly}</Badge>}
        {annotations['destructiveHint'] === true && <Badge tone="danger">{words.destructive}</Badge>}
      </div>
      <Description text={tool.description} />
    </header>
  );
}

function Description({ text }: { readonly text: string }) {
  const words = strings.tools.panel;
  const [isWhole, setWhole] = useState(false);
  if (text === '') return <p className={styles['muted']}>{words.noDescription}</p>;
  const isCut = !isWhole && text.length > LONG_TEXT;
  return (
    <div>
      <p className={styles['text']}>{isCut ? `${text.slice(0, LONG_TEXT)}…` : text}</p>
      {isCut && (
        <Button size="small" variant="quiet" onClick={() => setWhole(true)}>
          {words.wholeText}
        </Button>
      )}
    </div>
  );
}
