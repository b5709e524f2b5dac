import { memo, useMemo } from 'react';
import { PlainText } from '../message/PlainText.tsx';
import type { Mark } from './marks.ts';
import { TableFrame, TableRows } from './TableView.tsx';
import { readMarkdown } from './readMarkdown.ts';
import type { TableChunks } from './tableChunks.ts';

/** A table of many rows: what is added to it at the end is all that is read anew. */
export function LargeTable({
  chunks: { head, bodies },
  definitions,
}: {
  readonly chunks: TableChunks;
  readonly definitions: string;
}) {
  const table = useMemo(() => tableOf(readMarkdown(head, definitions)), [head, definitions]);
  // The line below the names has not as many columns as they have: then it is text.
  if (!table) return <PlainText text={head + bodies.join('')} />;
  return (
    <TableFrame names={table.rows[0] ?? []} align={table.align}>
      {bodies.map((body, index) => (
        <Body key={index} head={head} body={body} definitions={definitions} />
      ))}
    </TableFrame>
  );
}

const Body = memo(function Body({
  head,
  body,
  definitions,
}: {
  readonly head: string;
  readonly body: string;
  readonly definitions: string;
}) {
  const table = useMemo(() => tableOf(readMarkdown(head + body, definitions)), [head, body, definitions]);
  // A row can be longer than what is read at once.
  if (!table) return <TableRows rows={[[{ kind: 'plain', text: body }]]} align={[]} />;
  return <TableRows rows={table.rows.slice(1)} align={table.align} />;
});

function tableOf(marks: readonly Mark[]): Extract<Mark, { kind: 'table' }> | undefined {
  const [table] = marks;
  return table?.kind === 'table' ? table : undefined;
}
