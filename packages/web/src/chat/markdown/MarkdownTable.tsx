import { type ReactNode, memo, useMemo } from 'react';
import { strings } from '../../strings/strings.ts';
import { PlainText } from '../message/PlainText.tsx';
import { MarkdownNodes } from './MarkdownBlock.tsx';
import styles from './MarkdownTable.module.css';
import { type Alignment, type MarkdownNode, type TableChunks, parseMarkdown } from './parseMarkdown.ts';

type Alignments = readonly Alignment[];
type TableCells = readonly MarkdownNode[];

/** Table with a header. It scrolls, so the keyboard must be able to focus it. */
function TableFrame({
  headCells,
  align,
  children,
}: {
  readonly headCells: TableCells;
  readonly align: Alignments;
  readonly children: ReactNode;
}) {
  return (
    <div className={styles['frame']} tabIndex={0} role="group" aria-label={strings.chat.message.table}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {headCells.map((cell, index) => (
              <th key={index} scope="col" className={alignmentClass(align, index)}>
                <MarkdownNodes nodes={cellChildren(cell)} />
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </div>
  );
}

function TableRows({ rows, align }: { readonly rows: readonly TableCells[]; readonly align: Alignments }) {
  return (
    <tbody>
      {rows.map((cells, row) => (
        <tr key={row}>
          {cells.map((cell, index) => (
            <td key={index} className={alignmentClass(align, index)}>
              <MarkdownNodes nodes={cellChildren(cell)} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

export function MarkdownTable({
  rows,
  align,
}: {
  readonly rows: readonly TableCells[];
  readonly align: Alignments;
}) {
  const [headCells = [], ...bodyRows] = rows;
  return (
    <TableFrame headCells={headCells} align={align}>
      <TableRows rows={bodyRows} align={align} />
    </TableFrame>
  );
}

function cellChildren(cell: MarkdownNode): readonly MarkdownNode[] {
  return 'children' in cell ? cell.children : [cell];
}

function alignmentClass(align: Alignments, index: number): string | undefined {
  const side = align[index];
  return side ? styles[side] : undefined;
}

/** Table with many rows. Appended rows change only the last chunk, so only that chunk is parsed again. */
export function LargeTable({
  chunks: { head, bodies },
  definitions,
}: {
  readonly chunks: TableChunks;
  readonly definitions: string;
}) {
  const table = useMemo(() => findTable(parseMarkdown(head, definitions)), [head, definitions]);
  // The delimiter row has a wrong number of columns, so the source is not a table.
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
  // A single row can exceed the parser's length limit.
  if (!table) return <TableRows rows={[[{ kind: 'plain', text: body }]]} align={[]} />;
  return <TableRows rows={table.rows.slice(1)} align={table.align} />;
});

function findTable(nodes: readonly MarkdownNode[]): Extract<MarkdownNode, { kind: 'table' }> | undefined {
  const [table] = nodes;
  return table?.kind === 'table' ? table : undefined;
}
