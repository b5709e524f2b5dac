import { memo, useMemo } from 'react';
import { CodeBlock } from './CodeBlock.tsx';
import { LargeTable } from './LargeTable.tsx';
import { MarkdownNodes } from './MarkdownNodes.tsx';
import { parseMarkdown } from './parseMarkdown.ts';
import { splitTable } from './splitTable.ts';

export interface MarkdownBlockProps {
  readonly source: string;
  readonly definitions: string;
  /** Code whose end has not arrived yet: there is nothing in it to read. */
  readonly isUnclosedCode: boolean;
}

/** One block of a text, read once as long as it stays the same. */
export const MarkdownBlock = memo(function MarkdownBlock(props: MarkdownBlockProps) {
  const { source, definitions, isUnclosedCode } = props;
  if (isUnclosedCode) return <UnclosedCode source={source} />;
  const chunks = splitTable(source);
  if (chunks) return <LargeTable chunks={chunks} definitions={definitions} />;
  return <ParsedMarkdown source={source} definitions={definitions} />;
});

function ParsedMarkdown({ source, definitions }: { readonly source: string; readonly definitions: string }) {
  // Only where there may be a named link: others are not read again because a name was explained below.
  const usedDefinitions = source.includes('[') ? definitions : '';
  const nodes = useMemo(() => parseMarkdown(source, usedDefinitions), [source, usedDefinitions]);
  return <MarkdownNodes nodes={nodes} />;
}

function UnclosedCode({ source }: { readonly source: string }) {
  const [first = '', ...lines] = source.split('\n');
  const language = first.replace(/^[`~]+/, '').trim();
  return <CodeBlock text={lines.join('\n')} language={language.split(/\s/, 1)[0] ?? ''} />;
}
