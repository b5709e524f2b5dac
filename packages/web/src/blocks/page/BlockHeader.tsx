import type { BlockCheckView, BlockView, ServerToolsView, ToolDetail } from '@behalf/contracts';
import { Link } from 'wouter';
import { encodeSegment } from '../../api/request.ts';
import { TitleOrId } from '../../call/TitleOrId.tsx';
import { AuthorityBadge } from '../../result/AuthorityBadge.tsx';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { initialBlockStatus, blockStatus, blockStatusTones } from '../state/blockStatus.ts';
import styles from './BlockPage.module.css';

/** What a block runs, how it stands, and on whose authority. */
export function BlockHeader({
  block,
  view,
  tool,
  check,
}: {
  readonly block: BlockView;
  readonly view: ServerToolsView | undefined;
  readonly tool: ToolDetail | undefined;
  readonly check: BlockCheckView | undefined;
}) {
  const words = strings.blocks;
  const { panel } = strings.tools;
  const { server } = block;
  const checkedBlock = check?.blocks[0];
  const status = checkedBlock ? blockStatus(checkedBlock, check.missing) : initialBlockStatus(block);
  return (
    <header className={styles['header']}>
      <p className={styles['back']}>
        <Link href="/blocks">{words.back}</Link>
      </p>
      <p className={styles['names']}>
        <TitleOrId name={block.tool} title={tool?.title} />{' '}
        {server.state === 'available' ? (
          <Link href={`/servers/${encodeSegment(server.name)}`}>
            {panel.onServer(view?.title ?? server.name)}
          </Link>
        ) : (
          panel.onServer(server.name)
        )}
      </p>
      <div className={styles['badges']} role="group" aria-label={panel.badges}>
        <Badge tone={blockStatusTones[status]}>{words.states[status].name}</Badge>
        {checkedBlock?.drift && <Badge tone="warning">{words.drift.badge}</Badge>}
        {tool?.asksFirst && <Badge tone="warning">{panel.needsApproval}</Badge>}
        {tool?.annotations?.['readOnlyHint'] === true && <Badge>{panel.readOnly}</Badge>}
        {tool?.annotations?.['destructiveHint'] === true && <Badge tone="danger">{panel.destructive}</Badge>}
        {view && <AuthorityBadge authority={view.authority} />}
      </div>
    </header>
  );
}
