import type { CheckedBlock } from '@behalf/contracts';
import { useId, type Ref } from 'react';
import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { ConnectStatus } from '../../connect/ConnectStatus.tsx';
import { useConnect } from '../../connect/useConnect.ts';
import { credentialName } from '../../servers/credentials/credentialState.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import styles from './BlockRunner.module.css';

/**
 * Which of one's own credentials is used: in the order of the gateway, which choosing does not change. The default or the only
 * one is chosen from the start. Going without one comes last, and only where the gateway allows it.
 */
export function CredentialPicker({
  server,
  title,
  credentials,
  selected,
  error,
  onSelectCredential,
  ref,
}: {
  readonly server: string;
  readonly title: string;
  readonly credentials: NonNullable<CheckedBlock['credentials']>;
  readonly selected: string | undefined;
  readonly error: string | undefined;
  readonly onSelectCredential: (label: string) => void;
  readonly ref: Ref<HTMLFieldSetElement>;
}) {
  const words = strings.blocks.credential;
  const id = useId();
  const { choices, mayGoWithout } = credentials;
  return (
    <fieldset
      ref={ref}
      className={styles['choices']}
      aria-describedby={`${id}-hint`}
      data-invalid={error === undefined ? undefined : true}
      tabIndex={-1}
    >
      <legend>{words.title(title)}</legend>
      {choices.map(({ label, kind, isDefault }) => (
        <label key={label} className={styles['choice']}>
          <input
            type="radio"
            name={id}
            value={label}
            checked={label === selected}
            onChange={() => onSelectCredential(label)}
          />
          <span className={styles['label']}>{credentialName(label)}</span>
          <span className={styles['muted']}>{strings.credentials.kinds[kind]}</span>
          {isDefault && <Badge>{words.isDefault}</Badge>}
        </label>
      ))}
      {mayGoWithout && (
        <label className={styles['choice']}>
          {/* Whoever has one does not go without, so there is nothing else to choose here. */}
          <input type="radio" name={id} value="" checked={choices.length === 0} readOnly />
          <span className={styles['label']}>{words.none}</span>
          <span className={styles['muted']}>{words.noneHint}</span>
        </label>
      )}
      {mayGoWithout && <ConnectInstead server={server} />}
      <p id={`${id}-hint`} className={styles['hint']}>
        {error !== undefined && <span className={styles['error']}>{error} </span>}
        {words.hint}
      </p>
    </fieldset>
  );
}

function ConnectInstead({ server }: { readonly server: string }) {
  const connect = useConnect(server);
  return (
    <div className={styles['actions']}>
      <ConnectButtons connect={connect} label={strings.blocks.credential.connect} />
      <ConnectStatus connect={connect} />
    </div>
  );
}
