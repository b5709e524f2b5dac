import type { CredentialNeed, MissingParts } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Ref, type SubmitEvent, useState } from 'react';
import { Link } from 'wouter';
import { fieldErrorText, hasOnlyFieldErrors } from '../../api/explain.ts';
import { encodeSegment } from '../../api/request.ts';
import { invalidateServers, setValues, useServerTitleLookup } from '../../api/servers.ts';
import { ConnectCard } from '../../call/ConnectCard.tsx';
import type { ConnectOptions } from '../../connect/connectController.ts';
import { connectControllers } from '../../connect/pageConnectControllers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ServerIdentity } from '../../ui/Identity.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import styles from './BlockRunner.module.css';
import { groupNeeds } from './groupNeeds.ts';

interface NeedsProps {
  readonly missing: MissingParts;
  /** Server of a block. `titleOfBlock` is set if several blocks run. */
  readonly serverOfBlock: (block: string) => string;
  readonly titleOfBlock?: (block: string) => string;
  /** Text that says what happens after a requirement is met. */
  readonly nextStepText: string;
  readonly returnTo: string;
  readonly onNeedMet: () => void;
  readonly onBeforeLeave?: () => void;
  /** Whether the user can choose a credential on this page. */
  readonly canChooseHere: boolean;
  readonly ref?: Ref<HTMLElement>;
}

/** Requirements of a run, grouped by server. */
export function NeedsCard(props: NeedsProps) {
  const words = strings.blocks.needs;
  const { missing, serverOfBlock, titleOfBlock, ref } = props;
  const getServerTitle = useServerTitleLookup();
  return (
    <Card className={styles['needs']} aria-label={words.title}>
      <h3 ref={ref as Ref<HTMLHeadingElement>} tabIndex={-1}>
        {words.title}
      </h3>
      {groupNeeds(missing, serverOfBlock, getServerTitle).map(({ key, address, titles, inputs, needs }) => (
        <section key={key} className={styles['group']} aria-label={titles.join(', ')}>
          <h4>{titles.join(', ')}</h4>
          {address !== undefined && <code className={styles['muted']}>{address}</code>}
          {inputs.length > 0 && (
            <div>
              <p>{words.inputs}</p>
              <ul className={styles['list']}>
                {inputs.map(({ block, name, title = name }) => (
                  <li key={`${block} ${name}`}>
                    {titleOfBlock ? words.inputOfBlock(title, titleOfBlock(block)) : title}
                  </li>
                ))}
              </ul>
              {!titleOfBlock && <p className={styles['muted']}>{words.inputsHere}</p>}
            </div>
          )}
          {needs.map((need, index) => (
            <NeedView key={`${need.kind} ${need.server} ${index}`} need={need} {...props} />
          ))}
        </section>
      ))}
    </Card>
  );
}

function NeedView({
  need,
  nextStepText,
  returnTo,
  onNeedMet,
  onBeforeLeave,
  canChooseHere,
}: NeedsProps & { readonly need: CredentialNeed }) {
  const words = strings.blocks.needs;
  const { server, title } = need;
  switch (need.kind) {
    case 'sign_in': {
      const { connectUrl, reason, label } = need;
      const startConnect = async (wanted: ConnectOptions) => {
        const options = { ...wanted, ...(label !== undefined && { label }) };
        if (await connectControllers.get(server).begin(options)) onNeedMet();
      };
      return (
        <ConnectCard
          connect={{ server, title, reason, connectUrl }}
          returnTo={returnTo}
          nextStepText={nextStepText}
          onStart={startConnect}
          {...(onBeforeLeave && { onBeforeLeave })}
        />
      );
    }
    case 'values':
      return <NeededValuesForm server={server} values={need.values} onSaved={onNeedMet} />;
    case 'choose':
      return (
        <p>
          {canChooseHere ? words.choose : words.chooseDefault}{' '}
          {!canChooseHere && (
            <>
              <ServerIdentity server={server} title={title} />{' '}
              <Link href={`/servers/${encodeSegment(server)}`}>{words.openServer}</Link>
            </>
          )}
        </p>
      );
  }
}

type Values = Extract<CredentialNeed, { kind: 'values' }>['values'];

/** Form for the missing user values of a server. */
function NeededValuesForm({
  server,
  values,
  onSaved,
}: {
  readonly server: string;
  readonly values: Values;
  readonly onSaved: () => void;
}) {
  const words = strings.blocks.needs;
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>({});
  const [hasSubmitted, setHasSubmitted] = useState(false);
  const isEmpty = (name: string) => (draft[name] ?? '').trim() === '';
  const saveMutation = useMutation({
    mutationFn: () => setValues(server, draft),
    onSuccess: async () => {
      showToast('success', words.valuesSaved);
      await invalidateServers(queryClient);
      onSaved();
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setHasSubmitted(true);
    if (!values.some(({ name }) => isEmpty(name))) saveMutation.mutate();
  }

  const paths = values.flatMap(({ name }) => [name, `auth.${name}`]);
  return (
    <form className={styles['values']} onSubmit={submit} noValidate autoComplete="off">
      <p>{words.values}</p>
      <p className={styles['muted']}>{words.valuesText}</p>
      {values.map(({ name, title, description, sensitive }) => (
        <TextField
          key={name}
          label={title}
          hint={description}
          isRequired
          type={sensitive ? 'password' : 'text'}
          autoComplete={sensitive ? 'new-password' : 'off'}
          spellCheck={false}
          error={
            hasSubmitted && isEmpty(name)
              ? words.valueMissing
              : (fieldErrorText(saveMutation.error, name) ??
                fieldErrorText(saveMutation.error, `auth.${name}`))
          }
          value={draft[name] ?? ''}
          onChange={({ target }) => setDraft({ ...draft, [name]: target.value })}
        />
      ))}
      {saveMutation.error !== null && !hasOnlyFieldErrors(saveMutation.error, paths) && (
        <ErrorNotice error={saveMutation.error} />
      )}
      <div>
        <Button type="submit" isBusy={saveMutation.isPending}>
          {words.valuesSave}
        </Button>
      </div>
    </form>
  );
}
