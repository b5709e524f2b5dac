import { useCallback, useMemo } from 'react';
import { useLocation } from 'wouter';
import { usePermission, useUser } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Page } from '../ui/Page.tsx';
import { parseLinkedArgs, toolPath, useHash } from './toolLinks.ts';
import { ToolConsole, type ToolRef } from './ToolConsole.tsx';

export function ToolsPage({
  server,
  tool,
}: {
  readonly server: string | undefined;
  readonly tool: string | undefined;
}) {
  const { list, title, lead } = strings.tools;
  const [, navigate] = useLocation();
  const hash = useHash();
  const selectTool = useCallback(
    (choice: ToolRef | undefined) => navigate(choice ? toolPath(choice.server, choice.tool) : '/tools'),
    [navigate],
  );
  const linked = useMemo(() => parseLinkedArgs(hash), [hash]);
  const isUserLoaded = useUser() !== undefined;
  const canUse = usePermission('USE');
  return (
    <Page title={title} lead={lead} isWide>
      {isUserLoaded && !canUse ? (
        <EmptyState icon="shield" title={list.forbiddenTitle}>
          {list.forbiddenText}
        </EmptyState>
      ) : (
        <ToolConsole server={server} tool={tool} linked={linked} onSelect={selectTool} />
      )}
    </Page>
  );
}
