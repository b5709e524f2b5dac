import { useQuery } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { Link } from 'wouter';
import { allToolsQuery } from '../api/servers.ts';
import { usePermission } from '../api/user.ts';
import type { JsonRecord } from '../result/isRecord.ts';
import { strings } from '../strings/strings.ts';
import { classNames } from '../ui/classNames.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { RunHistory } from './RunHistory.tsx';
import type { LinkedArgs } from './toolAddress.ts';
import styles from './ToolConsole.module.css';
import { ToolPanel } from './ToolPanel.tsx';
import { ToolPicker } from './ToolPicker.tsx';

export interface ToolChoice {
  readonly server: string;
  readonly tool: string;
}

interface Chosen extends ToolChoice {
  /** What its form begins with, and how often something was put into it: each time the form begins anew. */
  readonly args?: JsonRecord;
  readonly times: number;
}

/** Pick a tool, fill in its form, run it, see what it gave. */
export function ToolConsole({
  server,
  tool,
  linked,
  onSelect,
}: {
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  /** Arguments of the link that led here. They fill in the form, and run nothing. */
  readonly linked?: LinkedArgs | undefined;
  /** What was chosen stands in the address. */
  readonly onSelect: (choice: ToolChoice | undefined) => void;
}) {
  const tools = useQuery(allToolsQuery);
  const [chosen, setChosen] = useState<Chosen | undefined>(given(server, tool));
  const search = useRef<HTMLInputElement>(null);
  const current = given(server, tool);
  const filled = current && isSame(current, chosen) ? chosen : undefined;

  const choose = useCallback(
    (choice: ToolChoice | undefined, args?: JsonRecord): void => {
      setChosen((before) => choice && { ...choice, ...(args && { args }), times: (before?.times ?? 0) + 1 });
      onSelect(choice);
    },
    [onSelect],
  );

  if (tools.isError && !tools.data)
    return <ErrorNotice error={tools.error} onRetry={() => void tools.refetch()} />;
  if (tools.data && Object.keys(tools.data).length === 0 && !current) return <NoServers />;
  return (
    <div className={classNames(styles['console'], current && styles['chosen'])}>
      <ToolPicker query={tools} current={current} searchRef={search} onChoose={choose} />
      <div className={styles['main']}>
        <ToolPanel
          key={JSON.stringify([current?.server, current?.tool])}
          choice={current}
          // Whatever is filled in here leads to an address without arguments: a link with some was opened after it.
          args={linked ? undefined : filled?.args}
          linked={linked}
          times={filled?.times ?? 0}
          onBack={() => {
            choose(undefined);
            search.current?.focus();
          }}
        />
        <RunHistory current={current} onFill={choose} />
      </div>
    </div>
  );
}

function given(server: string | undefined, tool: string | undefined): Chosen | undefined {
  return server === undefined || tool === undefined ? undefined : { server, tool, times: 0 };
}

function isSame(one: ToolChoice, other: ToolChoice | undefined): boolean {
  return one.server === other?.server && one.tool === other.tool;
}

function NoServers() {
  const words = strings.tools.list;
  const mayCreate = usePermission('CREATE');
  return (
    <EmptyState
      icon="tools"
      title={words.emptyTitle}
      actions={<Link href="/servers">{words.toServers}</Link>}
    >
      {mayCreate ? words.emptyForMakers : words.emptyForOthers}
    </EmptyState>
  );
}
