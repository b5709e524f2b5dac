import type { BlockCheckView, BlockView, ServerToolsView, ToolDetail } from '@behalf/contracts';
import { Link } from 'wouter';
import { encodeSegment } from '../../api/request.ts';
import { TitledName } from '../../call/TitledName.tsx';
import { AuthorityBadge } from '../../result/AuthorityBadge.tsx';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { firstStanding, standingOf, standingTones } from '../state/blockState.ts';
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
  const checked = check?.blocks[0];
  const standing = checked ? standingOf(checked, check.missing) : firstStanding(block);
  return (
    <header className={styles['header']}>
      <p className={styles['back']}>
        <Link href="/blocks">{words.back}</Link>
      </p>
      <p className={styles['names']}>
        <TitledName name={block.tool} title={tool?.title} />{' '}
        {server.state === 'available' ? (
          <Link href={`/servers/${encodeSegment(server.name)}`}>{panel.on(view?.title ?? server.name)}</Link>
        ) : (
          panel.on(server.name)
        )}
      </p>
      <div className={styles['badges']} role="group" aria-label={panel.badges}>
        <Badge tone={standingTones[standing]}>{words.states[standing].name}</Badge>
        {checked?.drift && <Badge tone="warning">{words.drift.badge}</Badge>}
        {tool?.asksFirst && <Badge tone="warning">{panel.asksFirst}</Badge>}
        {tool?.annotations?.['readOnlyHint'] === true && <Badge>{panel.readOnly}</Badge>}
        {tool?.annotations?.['destructiveHint'] === true && <Badge tone="danger">{panel.destructive}</Badge>}
        {view && <AuthorityBadge authority={view.authority} />}
      </div>
    </header>
  );
}
