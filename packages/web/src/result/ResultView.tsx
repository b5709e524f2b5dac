import type { ChatCall, ToolResult } from '@behalf/contracts';
import { useMemo, useState } from 'react';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { Button } from '../ui/Button.tsx';
import { LinkView } from './LinkView.tsx';
import { AudioView, FileView, ImageView } from './PayloadView.tsx';
import styles from './ResultView.module.css';
import { StructuredView } from './StructuredView.tsx';
import { TextView } from './TextView.tsx';
import { type ResultBlock, toResultContent } from './resultContent.ts';

/** Blocks that are shown before the user requests more. A server may send thousands. */
const PAGE_SIZE = 50;

/** The result of a tool. Everything in it is data of a server: it is never used as markup or as a URL to load. */
export function ResultView({
  result,
  truncation = {},
}: {
  readonly result: ToolResult;
  /** The parts that are missing from the result now or after a reload. */
  readonly truncation?: Pick<ChatCall, 'isCut' | 'leftOut' | 'keepsLess'>;
}) {
  const words = strings.tools.result;
  const { isError, blocks, structured } = useMemo(() => toResultContent(result), [result]);
  const [shownCount, setShownCount] = useState(PAGE_SIZE);
  return (
    <div className={styles['result']}>
      {isError && (
        <div>
          <Badge tone="danger">{words.failed}</Badge>
        </div>
      )}
      {blocks.slice(0, shownCount).map((block, index) => (
        <ResultBlockView key={index} block={block} />
      ))}
      {blocks.length > shownCount && (
        <div>
          <Button size="small" onClick={() => setShownCount(shownCount + PAGE_SIZE)}>
            {strings.common.more}
          </Button>
        </div>
      )}
      {structured && <StructuredView value={structured.value} label={words.structured} />}
      {blocks.length === 0 && !structured && !truncation.isCut && (
        <p className={styles['note']}>{words.empty}</p>
      )}
      {truncation.isCut && (
        <p className={styles['note']}>
          {truncation.leftOut ? words.omittedParts(truncation.leftOut) : words.truncated}
        </p>
      )}
      {truncation.keepsLess && <p className={styles['note']}>{words.storedPartly}</p>}
    </div>
  );
}

function ResultBlockView({ block }: { readonly block: ResultBlock }) {
  switch (block.kind) {
    case 'text':
      return <TextView text={block.text} name={block.name ?? ''} />;
    case 'image':
      return <ImageView payload={block.payload} />;
    case 'audio':
      return <AudioView payload={block.payload} />;
    case 'file':
      return <FileView payload={block.payload} />;
    case 'link':
      return <LinkView link={block} />;
    case 'unknown':
      return <StructuredView value={block.value} label={strings.tools.result.unsupported} />;
  }
}

/** The arguments of a call. */
export function ArgumentsView({ args }: { readonly args: Readonly<Record<string, unknown>> }) {
  const words = strings.tools.result;
  if (Object.keys(args).length === 0) return <p className={styles['note']}>{words.noArguments}</p>;
  return <StructuredView value={args} label={words.arguments} />;
}
