import type { ChatCall, ToolResult } from '@behalf/contracts';
import { useMemo, useState } from 'react';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { Button } from '../ui/Button.tsx';
import { LinkView } from './LinkView.tsx';
import { AudioView, FileView, ImageView } from './PayloadView.tsx';
import { planResult } from './planResult.ts';
import type { Block } from './readBlock.ts';
import styles from './ResultView.module.css';
import { StructuredView } from './StructuredView.tsx';
import { TextView } from './TextView.tsx';

/** So many pieces are shown before somebody asks for more: a server may send thousands. */
const PAGE = 50;

/** What a tool gave back. All of it is data of a server: shown, and never taken for markup or an address to load from. */
export function ResultView({
  result,
  cut = {},
}: {
  readonly result: ToolResult;
  /** What of it is missing, here or the next time. */
  readonly cut?: Pick<ChatCall, 'isCut' | 'leftOut' | 'keepsLess'>;
}) {
  const words = strings.tools.result;
  const { isError, blocks, structured } = useMemo(() => planResult(result), [result]);
  const [shown, setShown] = useState(PAGE);
  return (
    <div className={styles['result']}>
      {isError && (
        <div>
          <Badge tone="danger">{words.failed}</Badge>
        </div>
      )}
      {blocks.slice(0, shown).map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
      {blocks.length > shown && (
        <div>
          <Button size="small" onClick={() => setShown(shown + PAGE)}>
            {strings.common.more}
          </Button>
        </div>
      )}
      {structured && <StructuredView value={structured.value} label={words.structured} />}
      {blocks.length === 0 && !structured && !cut.isCut && <p className={styles['note']}>{words.empty}</p>}
      {cut.isCut && <p className={styles['note']}>{cut.leftOut ? words.leftOut(cut.leftOut) : words.cut}</p>}
      {cut.keepsLess && <p className={styles['note']}>{words.keepsLess}</p>}
    </div>
  );
}

function BlockView({ block }: { readonly block: Block }) {
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
      return <StructuredView value={block.value} label={strings.tools.result.unknown} />;
  }
}
