import { lazy, memo, Suspense, useDeferredValue, type ComponentType } from 'react';
import { useStore } from '../../app/store.ts';
import type { MarkdownBlockProps } from '../markdown/MarkdownBlock.tsx';
import { listBlocks } from '../markdown/splitBlocks.ts';
import type { TextPartState } from '../session/messages.ts';
import { countRender } from './countRender.ts';
import { PlainText } from './PlainText.tsx';
import styles from './TextPart.module.css';

/** Falls back to the source text if the Markdown parser fails to load. */
const MarkdownBlock = lazy<ComponentType<MarkdownBlockProps>>(() =>
  import('../markdown/MarkdownBlock.tsx').then(
    (m) => ({ default: m.MarkdownBlock }),
    () => ({ default: SourceBlock }),
  ),
);

/** Longer texts first appear as source text. A deferred render then parses them without blocking the page. */
const SHORT_TEXT_LENGTH = 6_000;

/** Markdown text of an answer. An append parses only the last block again. */
export const TextPart = memo(function TextPart({ part }: { readonly part: TextPartState }) {
  countRender(part.id, 'text');
  const { text, blocks } = useStore(part.state);
  const isReady = useDeferredValue(true, text.length < SHORT_TEXT_LENGTH);
  const plainText = <PlainText text={text} />;
  if (!isReady) return plainText;
  const sources = listBlocks(blocks);
  return (
    <Suspense fallback={plainText}>
      <div className={styles['text']}>
        {sources.map((source, index) => (
          <MarkdownBlock
            key={index}
            source={source}
            definitions={blocks.definitions}
            isUnclosedCode={blocks.isCode && index === sources.length - 1}
          />
        ))}
      </div>
    </Suspense>
  );
});

function SourceBlock({ source }: MarkdownBlockProps) {
  return <PlainText text={source} />;
}
