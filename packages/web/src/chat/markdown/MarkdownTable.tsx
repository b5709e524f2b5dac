import type { ReactNode } from 'react';
import { strings } from '../../strings/strings.ts';
import type { Alignment, MarkdownNode } from './markdownNode.ts';
import { MarkdownNodes } from './MarkdownNodes.tsx';
import styles from './MarkdownTable.module.css';

type Alignments = readonly Alignment[];
type TableCells = readonly MarkdownNode[];

/** The head of a table and the room for its rows. It scrolls by itself, so the keyboard must be able to reach it. */
export function TableFrame({
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

export function TableRows({
  rows,
  align,
}: {
  readonly rows: readonly TableCells[];
  readonly align: Alignments;
}) {
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
