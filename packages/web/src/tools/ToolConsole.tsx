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
  /** The initial arguments, and a counter that resets the form. */
  readonly args?: JsonRecord;
  readonly revision: number;
}

/** Select a tool, fill in its form, run it, view the result. */
export function ToolConsole({
  server,
  tool,
  linked,
  onSelect,
}: {
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  /** Arguments of the link that opened the page. They fill in the form and do not run the tool. */
  readonly linked?: LinkedArgs | undefined;
  /** Updates the URL. */
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
          // Arguments of a link are newer than reused ones, because reusing changes the URL to one without
          // arguments.
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
