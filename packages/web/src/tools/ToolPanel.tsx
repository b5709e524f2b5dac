import type { ServerToolsView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { explainErrorCode } from '../api/explain.ts';
import { encodeSegment } from '../api/request.ts';
import { serverToolsQuery } from '../api/servers.ts';
import { ConnectButtons, ConnectStatus } from '../connect/ConnectButtons.tsx';
import { useConnect } from '../connect/pageConnectControllers.ts';
import { type JsonRecord, keepIfEqual } from '../result/json.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import type { LinkedArgs } from './toolLinks.ts';
import type { ToolRef } from './ToolConsole.tsx';
import { ToolHeader } from './ToolHeader.tsx';
import { ToolRunner } from './ToolRunner.tsx';
import styles from './ToolPanel.module.css';
import { serverStateTones } from '../ui/stateTones.ts';

interface PanelProps {
  /** The initial arguments, selected here or from the link. */
  readonly args: JsonRecord | undefined;
  readonly linked: LinkedArgs | undefined;
  /** Incremented when the user selects a tool or reuses arguments; 0 if the URL selected it. */
  readonly revision: number;
  readonly onBack: () => void;
}

/** The selected tool: header, form and result. */
export function ToolPanel({ choice, ...rest }: PanelProps & { readonly choice: ToolRef | undefined }) {
  const words = strings.tools.panel;
  if (choice) return <SelectedToolPanel choice={choice} {...rest} />;
  return (
    <div className={styles['none']}>
      <EmptyState icon="tools" title={words.chooseTitle}>
        {words.chooseText}
      </EmptyState>
    </div>
  );
}

function SelectedToolPanel({
  choice,
  args,
  linked,
  revision,
  onBack,
}: PanelProps & { readonly choice: ToolRef }) {
  const words = strings.tools.panel;
  const details = useQuery({
    ...serverToolsQuery(choice.server),
    structuralSharing: (before, after) => keepIfEqual(before, after),
  });
  return (
    <div className={styles['panel']}>
      <div className={styles['back']}>
        <Button size="small" icon={<Icon name="chevron" size={16} />} onClick={onBack}>
          {words.back}
        </Button>
      </div>
      {details.isPending && <Skeleton lines={8} />}
      {details.isError && !details.data && (
        <ErrorNotice error={details.error} onRetry={() => void details.refetch()} />
      )}
      {details.data === null && (
        <EmptyState icon="search" title={words.notFoundTitle}>
          {words.notFoundText}
        </EmptyState>
      )}
      {details.data && (
        <ToolContent
          // Another link or reused arguments reset the form.
          key={JSON.stringify([revision, linked?.hash])}
          view={details.data}
          choice={choice}
          {...{ args, linked }}
          shouldFocus={revision > 0}
          onRetry={() => void details.refetch()}
          isRetrying={details.isFetching}
        />
      )}
    </div>
  );
}

function ToolContent({
  view,
  choice,
  args,
  linked,
  shouldFocus,
  onRetry,
  isRetrying,
}: Pick<PanelProps, 'args' | 'linked'> & {
  readonly shouldFocus: boolean;
  readonly view: ServerToolsView;
  readonly choice: ToolRef;
  readonly onRetry: () => void;
  readonly isRetrying: boolean;
}) {
  const words = strings.tools.panel;
  const tool = view.tools.find(({ name }) => name === choice.tool);
  return (
    <>
      {view.state !== 'connected' && (
        <ServerStateNotice view={view} onRetry={onRetry} isRetrying={isRetrying} />
      )}
      {tool && (
        <>
          <ToolHeader tool={tool} view={view} shouldFocus={shouldFocus} />
          <ToolRunner tool={tool} view={view} args={args ?? linked?.args} isLinked={linked !== undefined} />
        </>
      )}
      {!tool && view.state === 'connected' && (
        <EmptyState icon="search" title={words.notFoundTitle}>
          {words.toolNotFound(view.title)}
        </EmptyState>
      )}
    </>
  );
}

/** Why the tools of a server are unavailable, and what to do. */
export function ServerStateNotice({
  view: { serverName, title, state, code = '', authority },
  onRetry,
  isRetrying,
}: {
  readonly view: ServerToolsView;
  readonly onRetry: () => void;
  readonly isRetrying: boolean;
}) {
  const words = strings.tools.list;
  const connect = useConnect(serverName);
  if (state === 'connected') return null;
  const explanation = explainErrorCode(code);
  const canConnect = state === 'needs_authorization' && authority.kind === 'user_token';
  return (
    <Notice
      tone={serverStateTones[state]}
      title={words.serverState(title, words.states[state])}
      actions={
        <>
          {canConnect && <ConnectButtons connect={connect} />}
          <Button size="small" isBusy={isRetrying} onClick={onRetry}>
            {strings.common.retry}
          </Button>
          <Link href={`/servers/${encodeSegment(serverName)}`}>{words.openServer(title)}</Link>
        </>
      }
    >
      {state === 'unreachable' && explanation
        ? `${explanation.title}. ${explanation.text}`
        : words.stateTexts[state]}
      <ConnectStatus connect={connect} />
    </Notice>
  );
}
