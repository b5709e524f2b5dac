import { type ReactNode, createElement, memo, useMemo } from 'react';
import { strings } from '../../strings/strings.ts';
import { PlainText } from '../message/PlainText.tsx';
import { CodeBlock } from './CodeBlock.tsx';
import styles from './MarkdownNodes.module.css';
import { LargeTable, MarkdownTable } from './MarkdownTable.tsx';
import { type MarkdownNode, parseMarkdown, splitTable } from './parseMarkdown.ts';

export interface MarkdownBlockProps {
  readonly source: string;
  readonly definitions: string;
  /** Whether the block is code without its closing fence. It is rendered without parsing. */
  readonly isUnclosedCode: boolean;
}

/** Block of a Markdown text. Parsed once unless its source changes. */
export const MarkdownBlock = memo(function MarkdownBlock(props: MarkdownBlockProps) {
  const { source, definitions, isUnclosedCode } = props;
  if (isUnclosedCode) return <UnclosedCode source={source} />;
  const chunks = splitTable(source);
  if (chunks) return <LargeTable chunks={chunks} definitions={definitions} />;
  return <ParsedMarkdown source={source} definitions={definitions} />;
});

function ParsedMarkdown({ source, definitions }: { readonly source: string; readonly definitions: string }) {
  // Only blocks with a possible reference depend on the definitions. Other blocks are not parsed again.
  const usedDefinitions = source.includes('[') ? definitions : '';
  const nodes = useMemo(() => parseMarkdown(source, usedDefinitions), [source, usedDefinitions]);
  return <MarkdownNodes nodes={nodes} />;
}

function UnclosedCode({ source }: { readonly source: string }) {
  const [first = '', ...lines] = source.split('\n');
  const language = first.replace(/^[`~]+/, '').trim();
  return <CodeBlock text={lines.join('\n')} language={language.split(/\s/, 1)[0] ?? ''} />;
}

/** Only this function turns model output into elements. The depth of the tree is limited. */
export function MarkdownNodes({ nodes }: { readonly nodes: readonly MarkdownNode[] }) {
  return nodes.map((node, index) => <MarkdownNodeView key={index} node={node} />);
}

function MarkdownNodeView({ node }: { readonly node: MarkdownNode }): ReactNode {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'plain':
      return <PlainText text={node.text} />;
    case 'inlineCode':
      return <code className={styles['inline']}>{node.text}</code>;
    case 'code':
      return <CodeBlock text={node.text} language={node.language} />;
    case 'break':
      return <br />;
    case 'rule':
      return <hr className={styles['rule']} />;
    case 'heading':
      return <Heading node={node} />;
    case 'list':
      return <List node={node} />;
    case 'item':
      return <Item node={node} />;
    case 'link':
      return <Link node={node} />;
    case 'table':
      return <MarkdownTable rows={node.rows} align={node.align} />;
    case 'paragraph':
      return <p>{renderChildren(node)}</p>;
    case 'strong':
      return <strong>{renderChildren(node)}</strong>;
    case 'emphasis':
      return <em>{renderChildren(node)}</em>;
    case 'strikethrough':
      return <del>{renderChildren(node)}</del>;
    case 'quote':
      return <blockquote className={styles['quote']}>{renderChildren(node)}</blockquote>;
    case 'cell':
      return renderChildren(node);
  }
}

function renderChildren(node: { readonly children: readonly MarkdownNode[] }): ReactNode {
  return <MarkdownNodes nodes={node.children} />;
}

/** Heading levels 3 to 6, below the heading of the message. Models start with level 1 or 2. */
function Heading({ node }: { readonly node: Extract<MarkdownNode, { kind: 'heading' }> }) {
  const level = Math.min(6, Math.max(3, node.level + 1));
  const className = node.level <= 2 ? styles['heading'] : styles['subheading'];
  return createElement(`h${level}`, { className: className }, renderChildren(node));
}

function List({ node }: { readonly node: Extract<MarkdownNode, { kind: 'list' }> }) {
  if (node.start === null) return <ul className={styles['list']}>{renderChildren(node)}</ul>;
  return (
    <ol className={styles['list']} start={node.start}>
      {renderChildren(node)}
    </ol>
  );
}

function Item({ node }: { readonly node: Extract<MarkdownNode, { kind: 'item' }> }) {
  const words = strings.chat.message;
  const { isChecked } = node;
  if (isChecked === null) return <li>{renderChildren(node)}</li>;
  return (
    <li className={styles['task']}>
      <span className={styles['box']} data-checked={isChecked || undefined} aria-hidden="true" />
      <div>
        <span className="visually-hidden">{isChecked ? words.taskDone : words.taskOpen}</span>
        {renderChildren(node)}
      </div>
    </li>
  );
}

/** Link that shows its host: the model writes the link text, which can name a different site. */
function Link({ node }: { readonly node: Extract<MarkdownNode, { kind: 'link' }> }) {
  const { href, host, children } = node;
  const [onlyChild] = children;
  const showsTarget =
    children.length === 1 && onlyChild?.kind === 'text' && stripScheme(onlyChild.text) === stripScheme(href);
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      <MarkdownNodes nodes={children} />
      {!showsTarget && <span className={styles['host']}> ({host})</span>}
    </a>
  );
}

function stripScheme(address: string): string {
  return address.replace(/^https?:\/\//, '').replace(/\/$/, '');
}
