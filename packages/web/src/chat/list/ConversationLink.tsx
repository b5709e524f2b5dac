import type { ConversationSummary } from '@behalf/contracts';
import { memo } from 'react';
import { Link } from 'wouter';
import { strings } from '../../strings/strings.ts';
import { IconButton } from '../../ui/Button.tsx';
import { classNames } from '../../ui/classNames.ts';
import { Icon } from '../../ui/Icon.tsx';
import styles from './ConversationLink.module.css';

/** List entry of a conversation with its actions. */
export const ConversationLink = memo(
  function ConversationLink({
    conversation: { id, title },
    isCurrent,
    onRename,
    onDelete,
  }: {
    readonly conversation: ConversationSummary;
    readonly isCurrent: boolean;
    readonly onRename: () => void;
    readonly onDelete: () => void;
  }) {
    const words = strings.chat.list;
    const name = title || words.untitled;
    return (
      <li className={classNames(styles['entry'], isCurrent && styles['here'])}>
        <Link
          href={`/chat/${encodeURIComponent(id)}`}
          className={styles['link']}
          title={name}
          aria-current={isCurrent ? 'page' : undefined}
        >
          {name}
        </Link>
        <div className={styles['actions']}>
          <IconButton
            size="small"
            label={words.rename(name)}
            icon={<Icon name="pencil" size={14} />}
            onClick={onRename}
          />
          <IconButton
            size="small"
            label={words.delete(name)}
            icon={<Icon name="trash" size={14} />}
            onClick={onDelete}
          />
        </div>
      </li>
    );
  },
  // The callbacks depend only on the conversation.
  (previous, next) => previous.conversation === next.conversation && previous.isCurrent === next.isCurrent,
);
