import { memo, useMemo } from 'react';
import { CodeBlock } from './CodeBlock.tsx';
import { LargeTable } from './LargeTable.tsx';
import { MarksView } from './MarksView.tsx';
import { readMarkdown } from './readMarkdown.ts';
import { tableChunks } from './tableChunks.ts';

export interface MarkdownBlockProps {
  readonly source: string;
  readonly definitions: string;
  /** Code whose end has not arrived yet: there is nothing in it to read. */
  readonly isOpenCode: boolean;
}

/** One block of a text, read once as long as it stays the same. */
export const MarkdownBlock = memo(function MarkdownBlock(props: MarkdownBlockProps) {
  const { source, definitions, isOpenCode } = props;
  if (isOpenCode) return <OpenCode source={source} />;
  const chunks = tableChunks(source);
  if (chunks) return <LargeTable chunks={chunks} definitions={definitions} />;
  return <Read source={source} definitions={definitions} />;
});

function Read({ source, definitions }: { readonly source: string; readonly definitions: string }) {
  // Only where there may be a named link: others are not read again because a name was explained below.
  const named = source.includes('[') ? definitions : '';
  const marks = useMemo(() => readMarkdown(source, named), [source, named]);
  return <MarksView marks={marks} />;
}

function OpenCode({ source }: { readonly source: string }) {
  const [first = '', ...lines] = source.split('\n');
  const language = first.replace(/^[`~]+/, '').trim();
  return <CodeBlock text={lines.join('\n')} language={language.split(/\s/, 1)[0] ?? ''} />;
}
