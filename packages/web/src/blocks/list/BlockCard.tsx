import type { BlockSummary } from '@behalf/contracts';
import { memo } from 'react';
import { Link } from 'wouter';
import { encodeSegment } from '../../api/request.ts';
import { formatAgo } from '../../hooks/formatTime.ts';
import styles from '../../servers/list/ServerCard.module.css';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { firstStanding, isInTrouble, standingOf, standingTones } from '../state/blockState.ts';
import { driftText } from '../state/driftText.ts';
import type { BlockCheck } from '../state/useBlockChecks.ts';

/** One block in the list: what it does, how it stands, and what is the matter. */
export const BlockCard = memo(function BlockCard({
  block,
  check,
  isOwn,
  serverTitle,
}: {
  readonly block: BlockSummary;
  readonly check: BlockCheck | undefined;
  readonly isOwn: boolean;
  readonly serverTitle: string;
}) {
  const words = strings.blocks;
  const { id, title, description, tool, updatedAt } = block;
  const standing = check ? standingOf(check.checked, check.missing) : firstStanding(block);
  const drift = check?.checked.drift;
  return (
    <li className={styles['card']}>
      <div className={styles['head']}>
        <h2 className={styles['names']}>
          <Link href={`/blocks/${encodeSegment(id)}`} className={styles['title']}>
            {title}
          </Link>
        </h2>
        <Badge tone={standingTones[standing]}>{words.states[standing].name}</Badge>
      </div>
      {description !== undefined && <p className={styles['description']}>{description}</p>}
      {isInTrouble(standing) && <Problem text={words.states[standing].text} />}
      {drift && (
        <Problem
          text={driftText(drift)
            .map(({ part, changes }) => `${words.drift.badge}. ${part}: ${changes.join('; ')}.`)
            .join(' ')}
        />
      )}
      <p className={styles['facts']}>
        <Badge>{isOwn ? words.mine : words.shared}</Badge>
        <span>{words.of(tool, serverTitle)}</span>
        <span>{words.changed(formatAgo(updatedAt))}</span>
      </p>
    </li>
  );
});

function Problem({ text }: { readonly text: string }) {
  return (
    <p className={styles['problem']}>
      <Icon name="warning" size={16} />
      <span>{text}</span>
    </p>
  );
}
