import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { fieldError } from '../../api/fieldErrors.ts';
import { explain } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { urlProblemOf } from '../form/formProblems.ts';
import { transports, type Transport } from '../form/serverForm.ts';
import styles from '../form/ServerDialog.module.css';
import { foundForm, type Begun } from './foundForm.ts';
import { LookOutcome } from './LookOutcome.tsx';
import { useDiscovery } from './useDiscovery.ts';

/** Where a server is, what it wants, and what it has, before anything of it is saved. */
export function DiscoverDialog({
  mayCreate,
  onClose,
  onFound,
}: {
  readonly mayCreate: boolean;
  readonly onClose: () => void;
  readonly onFound: (begun: Begun) => void;
}) {
  const words = strings.servers.adding;
  const text = strings.servers.form;
  const discovery = useDiscovery();
  const { at, look, error, isAsking } = discovery;
  const [urlProblem, setUrlProblem] = useState<string>();
  const fields = useRef<HTMLDivElement>(null);
  const outcome = useRef<HTMLDivElement>(null);
  const isFound = look?.view.outcome === 'tools';

  useEffect(() => fields.current?.querySelector('input')?.focus(), []);
  useEffect(() => {
    if (look) outcome.current?.focus();
  }, [look]);

  function submit(): void {
    if (isFound) {
      onFound(foundForm(at, look));
      return;
    }
    const problem = urlProblemOf(at.url, at.type);
    setUrlProblem(problem);
    if (problem === undefined) discovery.ask({ type: 'none' });
    else fields.current?.querySelector('input')?.focus();
  }
  function enter(): void {
    discovery.stop();
    onFound(foundForm(at, undefined));
  }
  function close(): void {
    discovery.stop();
    onClose();
  }

  const urlError = urlProblem ?? aboutUrl(error);
  return (
    <Dialog
      isWide
      title={words.title}
      onClose={close}
      onSubmit={() => mayCreate && !isAsking && submit()}
      actions={
        <>
          <Button look="quiet" onClick={enter}>
            {words.byHand}
          </Button>
          <Button onClick={close}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isBusy={isAsking} disabled={!mayCreate}>
            {isAsking ? words.looking : isFound ? words.goOn : words.look}
          </Button>
        </>
      }
    >
      <div ref={fields} className={styles['fields']}>
        {!mayCreate && <Notice tone="warning" title={text.rightsLost} />}
        <p className={styles['hint']}>{words.lead}</p>
        <TextField
          label={text.url}
          hint={at.type === 'websocket' ? text.urlHintWebsocket : text.urlHint}
          error={urlError}
          isRequired
          type="url"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={2048}
          value={at.url}
          onChange={({ target }) => {
            setUrlProblem(undefined);
            discovery.change({ ...at, url: target.value });
          }}
        />
        <SelectField
          label={text.transport}
          value={at.type}
          onChange={({ target }) => {
            setUrlProblem(undefined);
            discovery.change({ ...at, type: target.value as Transport });
          }}
        >
          {transports.map((type) => (
            <option key={type} value={type}>
              {text.transports[type]}
            </option>
          ))}
        </SelectField>
        {error !== null && urlError === undefined && <ErrorNotice error={error} />}
        <div ref={outcome} tabIndex={-1} className={styles['fields']}>
          {look && (
            <LookOutcome look={look} discovery={discovery} onDetails={() => onFound(foundForm(at, look))} />
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** What is wrong with the address itself, or with asking there. */
function aboutUrl(error: unknown): string | undefined {
  const said = fieldError(error, 'url') ?? fieldError(error, 'config.url');
  if (said !== undefined) return said;
  if (!(error instanceof ApiError) || error.code !== 'MCP_DOMAIN_NOT_ALLOWED') return undefined;
  const { title, text } = explain(error);
  return `${title}. ${text}`;
}
