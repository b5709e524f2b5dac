import type { CreatedServerView } from '@behalf/contracts';
import { useEffect, useRef, useState } from 'react';
import { explainError, fieldErrorText } from '../../api/explain.ts';
import { ApiError } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import styles from '../form/ServerDialog.module.css';
import { ServerDialog } from '../form/ServerDialog.tsx';
import { validateUrl } from '../form/formProblems.ts';
import { type ServerTransport, transports } from '../form/serverForm.ts';
import { DiscoveryOutcome } from './DiscoveryOutcome.tsx';
import { type InitialForm, toInitialForm } from './discoveryResult.ts';
import { useDiscovery } from './useDiscovery.ts';

/** Adds a server: discover it by URL or enter it manually, then complete and save the form. */
export function AddServer({
  isManual,
  canCreate,
  onClose,
  onSaved,
}: {
  readonly isManual: boolean;
  /** False after the permission was revoked. */
  readonly canCreate: boolean;
  readonly onClose: () => void;
  readonly onSaved: (view: CreatedServerView) => void;
}) {
  const [initial, setInitial] = useState<InitialForm | undefined>();
  if (isManual || initial) {
    return (
      <ServerDialog {...(initial && { initial })} canEdit={canCreate} onClose={onClose} onSaved={onSaved} />
    );
  }
  return <DiscoverDialog canCreate={canCreate} onClose={onClose} onFound={setInitial} />;
}

/** Discovers a server by URL: its requirements and tools. Nothing is saved. */
function DiscoverDialog({
  canCreate,
  onClose,
  onFound,
}: {
  readonly canCreate: boolean;
  readonly onClose: () => void;
  readonly onFound: (initial: InitialForm) => void;
}) {
  const words = strings.servers.addDialog;
  const formWords = strings.servers.form;
  const discovery = useDiscovery();
  const { endpoint, result, error, isDiscovering } = discovery;
  const [urlProblem, setUrlProblem] = useState<string>();
  const fieldsRef = useRef<HTMLDivElement>(null);
  const outcomeRef = useRef<HTMLDivElement>(null);
  const isFound = result?.view.outcome === 'tools';

  useEffect(() => fieldsRef.current?.querySelector('input')?.focus(), []);
  useEffect(() => {
    if (result) outcomeRef.current?.focus();
  }, [result]);

  function submit(): void {
    if (isFound) {
      onFound(toInitialForm(endpoint, result));
      return;
    }
    const problem = validateUrl(endpoint.url, endpoint.type);
    setUrlProblem(problem);
    if (problem === undefined) discovery.discover({ type: 'none' });
    else fieldsRef.current?.querySelector('input')?.focus();
  }
  function setUpManually(): void {
    discovery.cancel();
    onFound(toInitialForm(endpoint, undefined));
  }
  function close(): void {
    discovery.cancel();
    onClose();
  }

  const urlError = urlProblem ?? urlErrorText(error);
  return (
    <Dialog
      isWide
      title={words.title}
      onClose={close}
      onSubmit={() => canCreate && !isDiscovering && submit()}
      actions={
        <>
          <Button variant="quiet" onClick={setUpManually}>
            {words.manualSetup}
          </Button>
          <Button onClick={close}>{strings.common.cancel}</Button>
          <Button type="submit" variant="primary" isBusy={isDiscovering} disabled={!canCreate}>
            {isDiscovering ? words.connecting : isFound ? words.next : words.connect}
          </Button>
        </>
      }
    >
      <div ref={fieldsRef} className={styles['fields']}>
        {!canCreate && <Notice tone="warning" title={formWords.rightsLost} />}
        <p className={styles['hint']}>{words.lead}</p>
        <TextField
          label={formWords.url}
          hint={endpoint.type === 'websocket' ? formWords.urlHintWebsocket : formWords.urlHint}
          error={urlError}
          isRequired
          type="url"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={2048}
          value={endpoint.url}
          onChange={({ target }) => {
            setUrlProblem(undefined);
            discovery.setNewEndpoint({ ...endpoint, url: target.value });
          }}
        />
        <SelectField
          label={formWords.transport}
          value={endpoint.type}
          onChange={({ target }) => {
            setUrlProblem(undefined);
            discovery.setNewEndpoint({ ...endpoint, type: target.value as ServerTransport });
          }}
        >
          {transports.map((type) => (
            <option key={type} value={type}>
              {formWords.transports[type]}
            </option>
          ))}
        </SelectField>
        {error !== null && urlError === undefined && <ErrorNotice error={error} />}
        <div ref={outcomeRef} tabIndex={-1} className={styles['fields']}>
          {result && (
            <DiscoveryOutcome
              result={result}
              discovery={discovery}
              onDetails={() => onFound(toInitialForm(endpoint, result))}
            />
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** The error of the URL field or of the discovery. */
function urlErrorText(error: unknown): string | undefined {
  const fieldText = fieldErrorText(error, 'url') ?? fieldErrorText(error, 'config.url');
  if (fieldText !== undefined) return fieldText;
  if (!(error instanceof ApiError) || error.code !== 'MCP_DOMAIN_NOT_ALLOWED') return undefined;
  const { title, text } = explainError(error);
  return `${title}. ${text}`;
}
