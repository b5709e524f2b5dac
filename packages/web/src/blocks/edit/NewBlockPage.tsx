import type { ServersView } from '@behalf/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { invalidateBlocks, createBlock } from '../../api/blocks.ts';
import { encodeSegment } from '../../api/request.ts';
import { serversQuery, serverToolsQuery } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { keepIfEqual } from '../../result/json.ts';
import { parseLinkedArgs, useHash } from '../../tools/toolLinks.ts';
import { ServerStateNotice } from '../../tools/ToolPanel.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { BlockEditor } from './BlockEditor.tsx';
import { toDefaultInputs } from './inputsDraft.ts';

/** Creates a block. The address contains the selected server and tool. */
export function NewBlockPage() {
  const words = strings.blocks.form;
  const { data: servers, error, refetch } = useQuery(serversQuery);
  return (
    <Page title={words.newTitle} lead={words.newLead}>
      {error !== null && !servers && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {error === null && !servers && <Skeleton lines={6} />}
      {servers && Object.keys(servers).length === 0 && (
        <EmptyState
          icon="server"
          title={words.noServersTitle}
          actions={<Link href="/servers">{words.goToServers}</Link>}
        >
          {words.noServersText}
        </EmptyState>
      )}
      {servers && Object.keys(servers).length > 0 && <ServerSelect servers={servers} />}
    </Page>
  );
}

function ServerSelect({ servers }: { readonly servers: ServersView }) {
  const words = strings.blocks.form;
  const [params, setParams] = useSearchParams();
  const server = params.get('server') ?? '';
  const sortedServers = Object.entries(servers)
    .map(([name, { title = name }]) => ({ name, title }))
    .sort((a, b) => a.title.localeCompare(b.title) || (a.name < b.name ? -1 : 1));
  return (
    <>
      <SelectField
        label={words.server}
        isRequired
        value={Object.hasOwn(servers, server) ? server : ''}
        onChange={({ target }) => setParams({ server: target.value }, { replace: true })}
      >
        <option value="" disabled>
          {words.chooseServer}
        </option>
        {sortedServers.map(({ name, title }) => (
          <option key={name} value={name}>
            {title === name ? title : `${title} (${name})`}
          </option>
        ))}
      </SelectField>
      {Object.hasOwn(servers, server) && (
        <ToolSelect
          key={server}
          server={server}
          tool={params.get('tool') ?? ''}
          onToolChange={(tool) => setParams({ server, tool }, { replace: true })}
        />
      )}
    </>
  );
}

function ToolSelect({
  server,
  tool: name,
  onToolChange,
}: {
  readonly server: string;
  readonly tool: string;
  readonly onToolChange: (tool: string) => void;
}) {
  const words = strings.blocks.form;
  const [texts, setTexts] = useState({ title: '', description: '' });
  const [, navigate] = useLocation();
  const queryClient = useQueryClient();
  const linked = parseLinkedArgs(useHash());
  const {
    data: view,
    error,
    isFetching,
    refetch,
  } = useQuery({
    ...serverToolsQuery(server),
    structuralSharing: (before, after) => keepIfEqual(before, after),
  });
  if (view === undefined) {
    if (error === null) return <Skeleton lines={4} />;
    return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  if (view === null) return <Notice tone="warning" title={strings.tools.panel.notFoundTitle} />;
  const tool = view.tools.find((candidate) => candidate.name === name);
  return (
    <>
      {view.state !== 'connected' && (
        <ServerStateNotice view={view} isRetrying={isFetching} onRetry={() => void refetch()} />
      )}
      {view.state === 'connected' && view.tools.length === 0 && <p>{words.noTools}</p>}
      {view.tools.length > 0 && (
        <SelectField
          label={words.tool}
          isRequired
          hint={tool?.description}
          value={tool ? name : ''}
          onChange={({ target }) => onToolChange(target.value)}
        >
          <option value="" disabled>
            {words.chooseTool}
          </option>
          {view.tools.map((candidate) => (
            <option key={candidate.name} value={candidate.name}>
              {candidate.title ? `${candidate.title} (${candidate.name})` : candidate.name}
            </option>
          ))}
        </SelectField>
      )}
      {!tool && name !== '' && view.state === 'connected' && (
        <Notice tone="warning" title={words.toolNotFoundTitle}>
          {words.toolNotFoundText}
        </Notice>
      )}
      {tool && (
        <BlockEditor
          key={JSON.stringify([name, linked?.hash])}
          {...{ texts }}
          onTextsChange={setTexts}
          placeholder={tool.title || tool.name}
          schema={tool.inputSchema}
          inputs={toDefaultInputs(linked?.args ?? {})}
          isChanged={texts.title !== '' || texts.description !== ''}
          label={words.save}
          save={({ title, description, inputs = {} }) =>
            createBlock({
              ...{ server, tool: tool.name, inputs },
              ...(title.trim() !== '' && { title }),
              ...(description.trim() !== '' && { description }),
            })
          }
          onSaved={(block) => {
            showToast('success', words.saved(block.title));
            navigate(`/blocks/${encodeSegment(block.id)}`);
            return invalidateBlocks(queryClient);
          }}
          onCancel={() => navigate('/blocks')}
        />
      )}
    </>
  );
}
