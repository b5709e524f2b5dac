import { useCallback, useMemo } from 'react';
import { useLocation } from 'wouter';
import { usePermission, useUser } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Page } from '../ui/Page.tsx';
import { readLink, toolAddress } from './toolAddress.ts';
import { ToolConsole, type ToolChoice } from './ToolConsole.tsx';
import { useHash } from './useHash.ts';

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
  const choose = useCallback(
    (choice: ToolChoice | undefined) => navigate(choice ? toolAddress(choice.server, choice.tool) : '/tools'),
    [navigate],
  );
  const linked = useMemo(() => readLink(hash), [hash]);
  const isKnown = useUser() !== undefined;
  const mayUse = usePermission('USE');
  return (
    <Page title={title} lead={lead} isWide>
      {isKnown && !mayUse ? (
        <EmptyState icon="shield" title={list.forbiddenTitle}>
          {list.forbiddenText}
        </EmptyState>
      ) : (
        <ToolConsole server={server} tool={tool} linked={linked} onSelect={choose} />
      )}
    </Page>
  );
}
