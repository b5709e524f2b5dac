import type { BlockSummary } from '@behalf/contracts';
import { memo } from 'react';
import { Link } from 'wouter';
import { encodeSegment } from '../../api/request.ts';
import { formatAgo } from '../../hooks/formatTime.ts';
import styles from '../../servers/list/ServerCard.module.css';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { initialBlockStatus, needsAttention, blockStatus, blockStatusTones } from '../state/blockStatus.ts';
import { describeDrift } from '../state/describeDrift.ts';
import type { BlockCheck } from '../state/useBlockChecks.ts';

/** One block in the list: what it does, how it stands, and what is the matter. */
export const BlockCard = memo(function BlockCard({
  block,
  check,
  isOwner,
  serverTitle,
}: {
  readonly block: BlockSummary;
  readonly check: BlockCheck | undefined;
  readonly isOwner: boolean;
  readonly serverTitle: string;
}) {
  const words = strings.blocks;
  const { id, title, description, tool, updatedAt } = block;
  const status = check ? blockStatus(check.checkedBlock, check.missing) : initialBlockStatus(block);
  const drift = check?.checkedBlock.drift;
  return (
    <li className={styles['card']}>
      <div className={styles['head']}>
        <h2 className={styles['names']}>
          <Link href={`/blocks/${encodeSegment(id)}`} className={styles['title']}>
            {title}
          </Link>
        </h2>
        <Badge tone={blockStatusTones[status]}>{words.states[status].name}</Badge>
      </div>
      {description !== undefined && <p className={styles['description']}>{description}</p>}
      {needsAttention(status) && <ProblemText text={words.states[status].text} />}
      {drift && (
        <ProblemText
          text={describeDrift(drift)
            .map(({ part, changes }) => `${words.drift.badge}. ${part}: ${changes.join('; ')}.`)
            .join(' ')}
        />
      )}
      <p className={styles['facts']}>
        <Badge>{isOwner ? words.owned : words.shared}</Badge>
        <span>{words.toolOnServer(tool, serverTitle)}</span>
        <span>{words.changed(formatAgo(updatedAt))}</span>
      </p>
    </li>
  );
});

function ProblemText({ text }: { readonly text: string }) {
  return (
    <p className={styles['problem']}>
      <Icon name="warning" size={16} />
      <span>{text}</span>
    </p>
  );
}
