import type { ServerToolsView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { explainErrorCode } from '../api/explain.ts';
import { encodeSegment } from '../api/request.ts';
import { serverToolsQuery } from '../api/servers.ts';
import { ConnectButtons } from '../connect/ConnectButtons.tsx';
import { ConnectStatus } from '../connect/ConnectStatus.tsx';
import { useConnect } from '../connect/useConnect.ts';
import type { JsonRecord } from '../result/isRecord.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { keepSame } from './keepSame.ts';
import type { LinkedArgs } from './toolAddress.ts';
import type { ToolChoice } from './ToolConsole.tsx';
import { ToolHeader } from './ToolHeader.tsx';
import { ToolRunner } from './ToolRunner.tsx';
import styles from './ToolPanel.module.css';
import { serverStateTones } from '../ui/serverStateTones.ts';

interface PanelProps {
  /** What the form begins with: what somebody chose here, or what the link says. */
  readonly args: JsonRecord | undefined;
  readonly linked: LinkedArgs | undefined;
  /** How often a tool was chosen or filled in here; none: the address says which. */
  readonly times: number;
  readonly onBack: () => void;
}

/** The tool that was chosen: what it is, its form, and what it gave. */
export function ToolPanel({ choice, ...rest }: PanelProps & { readonly choice: ToolChoice | undefined }) {
  const words = strings.tools.panel;
  if (choice) return <ChosenTool choice={choice} {...rest} />;
  return (
    <div className={styles['none']}>
      <EmptyState icon="tools" title={words.chooseTitle}>
        {words.chooseText}
      </EmptyState>
    </div>
  );
}

function ChosenTool({ choice, args, linked, times, onBack }: PanelProps & { readonly choice: ToolChoice }) {
  const words = strings.tools.panel;
  const details = useQuery({
    ...serverToolsQuery(choice.server),
    structuralSharing: (before, after) => keepSame(before, after),
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
        <EmptyState icon="search" title={words.goneTitle}>
          {words.goneText}
        </EmptyState>
      )}
      {details.data && (
        <ToolOf
          // Another link, or arguments from elsewhere: the form begins anew.
          key={JSON.stringify([times, linked?.hash])}
          view={details.data}
          choice={choice}
          {...{ args, linked }}
          takesFocus={times > 0}
          onRetry={() => void details.refetch()}
          isRetrying={details.isFetching}
        />
      )}
    </div>
  );
}

function ToolOf({
  view,
  choice,
  args,
  linked,
  takesFocus,
  onRetry,
  isRetrying,
}: Pick<PanelProps, 'args' | 'linked'> & {
  readonly takesFocus: boolean;
  readonly view: ServerToolsView;
  readonly choice: ToolChoice;
  readonly onRetry: () => void;
  readonly isRetrying: boolean;
}) {
  const words = strings.tools.panel;
  const tool = view.tools.find(({ name }) => name === choice.tool);
  return (
    <>
      {view.state !== 'connected' && <ServerTrouble view={view} onRetry={onRetry} isRetrying={isRetrying} />}
      {tool && (
        <>
          <ToolHeader tool={tool} view={view} takesFocus={takesFocus} />
          <ToolRunner tool={tool} view={view} args={args ?? linked?.args} isLinked={linked !== undefined} />
        </>
      )}
      {!tool && view.state === 'connected' && (
        <EmptyState icon="search" title={words.goneTitle}>
          {words.toolGone(view.title)}
        </EmptyState>
      )}
    </>
  );
}

/** Why the tools of a server cannot be called just now, and what to do. */
export function ServerTrouble({
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
  const why = explainErrorCode(code);
  const canConnect = state === 'needs_authorization' && authority.kind === 'user_token';
  return (
    <Notice
      tone={serverStateTones[state]}
      title={words.trouble(title, words.states[state])}
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
      {state === 'unreachable' && why ? `${why.title}. ${why.text}` : words.stateTexts[state]}
      <ConnectStatus connect={connect} />
    </Notice>
  );
}
