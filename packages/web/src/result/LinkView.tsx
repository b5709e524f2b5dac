import { strings } from '../strings/strings.ts';
import { Icon } from '../ui/Icon.tsx';
import styles from './LinkView.module.css';
import type { ResultBlock } from './resultContent.ts';

/** A link from a server: its title and its target. Nothing is loaded. */
export function LinkView({ link }: { readonly link: Extract<ResultBlock, { kind: 'link' }> }) {
  const words = strings.tools.result;
  const { name, uri, href, description } = link;
  return (
    <div className={styles['link']}>
      <Icon name="link" />
      <div className={styles['about']}>
        <p>{name || words.link}</p>
        {href === undefined ? (
          <>
            <p className={styles['address']}>{uri}</p>
            <p className={styles['note']}>{words.notWebLink}</p>
          </>
        ) : (
          <a className={styles['address']} href={href} target="_blank" rel="noopener noreferrer">
            {uri}
          </a>
        )}
        {description !== '' && <p className={styles['note']}>{description}</p>}
      </div>
    </div>
  );
}
