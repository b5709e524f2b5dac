import { memo, useMemo } from 'react';
import { PlainText } from '../message/PlainText.tsx';
import type { MarkdownNode } from './markdownNode.ts';
import { TableFrame, TableRows } from './MarkdownTable.tsx';
import { parseMarkdown } from './parseMarkdown.ts';
import type { TableChunks } from './splitTable.ts';

/** A table of many rows: what is added to it at the end is all that is read anew. */
export function LargeTable({
  chunks: { head, bodies },
  definitions,
}: {
  readonly chunks: TableChunks;
  readonly definitions: string;
}) {
  const table = useMemo(() => findTable(parseMarkdown(head, definitions)), [head, definitions]);
  // The line below the names has not as many columns as they have: then it is text.
  if (!table) return <PlainText text={head + bodies.join('')} />;
  return (
    <TableFrame headCells={table.rows[0] ?? []} align={table.align}>
      {bodies.map((body, index) => (
        <TableBody key={index} head={head} body={body} definitions={definitions} />
      ))}
    </TableFrame>
  );
}

const TableBody = memo(function TableBody({
  head,
  body,
  definitions,
}: {
  readonly head: string;
  readonly body: string;
  readonly definitions: string;
}) {
  const table = useMemo(() => findTable(parseMarkdown(head + body, definitions)), [head, body, definitions]);
  // A row can be longer than what is read at once.
  if (!table) return <TableRows rows={[[{ kind: 'plain', text: body }]]} align={[]} />;
  return <TableRows rows={table.rows.slice(1)} align={table.align} />;
});

function findTable(nodes: readonly MarkdownNode[]): Extract<MarkdownNode, { kind: 'table' }> | undefined {
  const [table] = nodes;
  return table?.kind === 'table' ? table : undefined;
}
