import { createElement, type ReactNode } from 'react';
import { strings } from '../../strings/strings.ts';
import { PlainText } from '../message/PlainText.tsx';
import { CodeBlock } from './CodeBlock.tsx';
import type { Mark } from './marks.ts';
import styles from './MarksView.module.css';
import { TableView } from './TableView.tsx';

/** The only place where what a model wrote becomes elements. The tree has a bounded depth. */
export function MarksView({ marks }: { readonly marks: readonly Mark[] }) {
  return marks.map((mark, index) => <MarkView key={index} mark={mark} />);
}

function MarkView({ mark }: { readonly mark: Mark }): ReactNode {
  switch (mark.kind) {
    case 'text':
      return mark.text;
    case 'plain':
      return <PlainText text={mark.text} />;
    case 'inlineCode':
      return <code className={styles['inline']}>{mark.text}</code>;
    case 'code':
      return <CodeBlock text={mark.text} language={mark.language} />;
    case 'break':
      return <br />;
    case 'rule':
      return <hr className={styles['rule']} />;
    case 'heading':
      return <Heading mark={mark} />;
    case 'list':
      return <List mark={mark} />;
    case 'item':
      return <Item mark={mark} />;
    case 'link':
      return <Link mark={mark} />;
    case 'table':
      return <TableView rows={mark.rows} align={mark.align} />;
    case 'paragraph':
      return <p>{inside(mark)}</p>;
    case 'strong':
      return <strong>{inside(mark)}</strong>;
    case 'emphasis':
      return <em>{inside(mark)}</em>;
    case 'struck':
      return <del>{inside(mark)}</del>;
    case 'quote':
      return <blockquote className={styles['quote']}>{inside(mark)}</blockquote>;
    case 'cell':
      return inside(mark);
  }
}

function inside(mark: { readonly children: readonly Mark[] }): ReactNode {
  return <MarksView marks={mark.children} />;
}

/** Below the heading of the message. Models begin with the second level as often as with the first. */
function Heading({ mark }: { readonly mark: Extract<Mark, { kind: 'heading' }> }) {
  const level = Math.min(6, Math.max(3, mark.level + 1));
  const look = mark.level <= 2 ? styles['heading'] : styles['subheading'];
  return createElement(`h${level}`, { className: look }, inside(mark));
}

function List({ mark }: { readonly mark: Extract<Mark, { kind: 'list' }> }) {
  if (mark.start === null) return <ul className={styles['list']}>{inside(mark)}</ul>;
  return (
    <ol className={styles['list']} start={mark.start}>
      {inside(mark)}
    </ol>
  );
}

function Item({ mark }: { readonly mark: Extract<Mark, { kind: 'item' }> }) {
  const words = strings.chat.message;
  const { isChecked } = mark;
  if (isChecked === null) return <li>{inside(mark)}</li>;
  return (
    <li className={styles['task']}>
      <span className={styles['box']} data-checked={isChecked || undefined} aria-hidden="true" />
      <div>
        <span className="visually-hidden">{isChecked ? words.done : words.open}</span>
        {inside(mark)}
      </div>
    </li>
  );
}

/** Says where it leads: its words are the model's, and may name another place. */
function Link({ mark }: { readonly mark: Extract<Mark, { kind: 'link' }> }) {
  const { href, host, children } = mark;
  const [only] = children;
  const saysSo = children.length === 1 && only?.kind === 'text' && bare(only.text) === bare(href);
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      <MarksView marks={children} />
      {!saysSo && <span className={styles['host']}> ({host})</span>}
    </a>
  );
}

function bare(address: string): string {
  return address.replace(/^https?:\/\//, '').replace(/\/$/, '');
}
