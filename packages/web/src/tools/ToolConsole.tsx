import { useQuery } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { Link } from 'wouter';
import { allToolsQuery } from '../api/servers.ts';
import { usePermission } from '../api/user.ts';
import type { JsonRecord } from '../result/json.ts';
import { strings } from '../strings/strings.ts';
import { classNames } from '../ui/classNames.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { RunHistory } from './RunHistory.tsx';
import type { LinkedArgs } from './toolLinks.ts';
import styles from './ToolConsole.module.css';
import { ToolPanel } from './ToolPanel.tsx';
import { ToolPicker } from './ToolPicker.tsx';

export interface ToolRef {
  readonly server: string;
  readonly tool: string;
}

interface SelectedTool extends ToolRef {
  /** What its form begins with, and how often something was put into it: each time the form begins anew. */
  readonly args?: JsonRecord;
  readonly revision: number;
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
  readonly onSelect: (choice: ToolRef | undefined) => void;
}) {
  const tools = useQuery(allToolsQuery);
  const [selected, setSelected] = useState<SelectedTool | undefined>(toSelection(server, tool));
  const searchRef = useRef<HTMLInputElement>(null);
  const current = toSelection(server, tool);
  const reused = current && isSameTool(current, selected) ? selected : undefined;

  const selectTool = useCallback(
    (choice: ToolRef | undefined, args?: JsonRecord): void => {
      setSelected(
        (before) => choice && { ...choice, ...(args && { args }), revision: (before?.revision ?? 0) + 1 },
      );
      onSelect(choice);
    },
    [onSelect],
  );

  if (tools.isError && !tools.data)
    return <ErrorNotice error={tools.error} onRetry={() => void tools.refetch()} />;
  if (tools.data && Object.keys(tools.data).length === 0 && !current) return <NoTools />;
  return (
    <div className={classNames(styles['console'], current && styles['chosen'])}>
      <ToolPicker query={tools} current={current} searchRef={searchRef} onSelect={selectTool} />
      <div className={styles['main']}>
        <ToolPanel
          key={JSON.stringify([current?.server, current?.tool])}
          choice={current}
          // Whatever is filled in here leads to an address without arguments: a link with some was opened after it.
          args={linked ? undefined : reused?.args}
          linked={linked}
          revision={reused?.revision ?? 0}
          onBack={() => {
            selectTool(undefined);
            searchRef.current?.focus();
          }}
        />
        <RunHistory current={current} onReuse={selectTool} />
      </div>
    </div>
  );
}

function toSelection(server: string | undefined, tool: string | undefined): SelectedTool | undefined {
  return server === undefined || tool === undefined ? undefined : { server, tool, revision: 0 };
}

function isSameTool(one: ToolRef, other: ToolRef | undefined): boolean {
  return one.server === other?.server && one.tool === other.tool;
}

function NoTools() {
  const words = strings.tools.list;
  const canCreate = usePermission('CREATE');
  return (
    <EmptyState
      icon="tools"
      title={words.emptyTitle}
      actions={<Link href="/servers">{words.goToServers}</Link>}
    >
      {canCreate ? words.emptyForCreators : words.emptyForUsers}
    </EmptyState>
  );
}
