import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { describeConnectState } from '../../connect/connectText.ts';
import { useConnect } from '../../connect/useConnect.ts';
import { strings } from '../../strings/strings.ts';
import { Notice } from '../../ui/Notice.tsx';
import styles from './ServerCard.module.css';

/** Signing in at a server without leaving the list. */
export function CardConnect({ server, title }: { readonly server: string; readonly title: string }) {
  const connect = useConnect(server);
  const text = describeConnectState(connect.state);
  return (
    <div className={styles['connect']}>
      {text && (
        <Notice tone={text.tone} title={text.title}>
          {text.text}
        </Notice>
      )}
      <div>
        <ConnectButtons connect={connect} label={strings.connect.connectTo(title)} />
      </div>
    </div>
  );
}
