import type { ServerToolsView, ToolDetail } from '@behalf/contracts';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { AuthorityBadge } from '../result/AuthorityBadge.tsx';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { Button } from '../ui/Button.tsx';
import styles from './ToolHeader.module.css';

/** Longer descriptions are collapsed, so that the form is visible. */
const MAX_DESCRIPTION_LENGTH = 500;

/** A tool's title and description, and the credential of its calls. */
export function ToolHeader({
  tool,
  view,
  shouldFocus,
}: {
  readonly tool: ToolDetail;
  readonly view: ServerToolsView;
  /** Whether the heading receives the focus, because the user selected the tool on this page. */
  readonly shouldFocus: boolean;
}) {
  const words = strings.tools.panel;
  const headingRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (shouldFocus) headingRef.current?.focus();
  }, [shouldFocus]);
  const { name, title, annotations = {}, asksFirst } = tool;
  return (
    <header className={styles['header']}>
      <h2 ref={headingRef} tabIndex={-1} className={styles['title']}>
        {title || name}
      </h2>
      <p className={styles['names']}>
        {title && title !== name && <code>{name}</code>}{' '}
        <Link href={`/servers/${encodeSegment(view.serverName)}`}>{words.onServer(view.title)}</Link>
      </p>
      <div className={styles['badges']} role="group" aria-label={words.badges}>
        <AuthorityBadge authority={view.authority} />
        {asksFirst && <Badge tone="warning">{words.needsApproval}</Badge>}
        {annotations['readOnlyHint'] === true && <Badge>{words.readOnly}</Badge>}
        {annotations['destructiveHint'] === true && <Badge tone="danger">{words.destructive}</Badge>}
      </div>
      <Description text={tool.description} />
    </header>
  );
}

function Description({ text }: { readonly text: string }) {
  const words = strings.tools.panel;
  const [isExpanded, setExpanded] = useState(false);
  if (text === '') return <p className={styles['muted']}>{words.noDescription}</p>;
  const isTruncated = !isExpanded && text.length > MAX_DESCRIPTION_LENGTH;
  return (
    <div>
      <p className={styles['text']}>{isTruncated ? `${text.slice(0, MAX_DESCRIPTION_LENGTH)}…` : text}</p>
      {isTruncated && (
        <Button size="small" variant="quiet" onClick={() => setExpanded(true)}>
          {words.fullDescription}
        </Button>
      )}
    </div>
  );
}
