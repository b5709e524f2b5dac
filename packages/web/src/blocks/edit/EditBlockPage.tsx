import type { BlockView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { blockQuery, invalidateBlocks, changeBlock, isBlockNotFound } from '../../api/blocks.ts';
import { encodeSegment } from '../../api/request.ts';
import { serverToolsQuery } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { ServerStateNotice } from '../../tools/ToolPanel.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { UnavailablePage } from '../../ui/UnavailablePage.tsx';
import { BlockEditor } from './BlockEditor.tsx';

/** Edits a block. Its server and tool cannot change. */
export function EditBlockPage({ id }: { readonly id: string }) {
  // No refetch, so that the form does not change while the user edits it.
  const query = useQuery({ ...blockQuery(id), refetchInterval: false, refetchOnWindowFocus: false });
  const { data: block, error, refetch } = query;
  const canEdit = block === undefined || hasAclBit(block.permissions, 'EDIT');
  const isNotFound = isBlockNotFound(error) || !canEdit;
  if (block && !isNotFound) {
    return <EditBlockForm key={`${id} ${block.version}`} block={block} onReload={() => void refetch()} />;
  }
  return (
    <UnavailablePage
      title={strings.blocks.title}
      texts={strings.blocks}
      listPath="/blocks"
      isNotFound={isNotFound}
      query={query}
      skeletonLines={10}
    />
  );
}

function EditBlockForm({ block, onReload }: { readonly block: BlockView; readonly onReload: () => void }) {
  const words = strings.blocks.form;
  const { id, title, description = '', server, tool: toolName, version } = block;
  const [texts, setTexts] = useState({ title, description });
  const [, navigate] = useLocation();
  const queryClient = useQueryClient();
  const tools = useQuery({
    ...serverToolsQuery(server.name),
    enabled: server.state === 'available',
    // No refetch: the form keeps the schema that it was created with.
    refetchOnWindowFocus: false,
  });
  const tool = tools.data?.tools.find(({ name }) => name === toolName);
  const isPending = server.state === 'available' && tools.isPending;
  const blockUrl = `/blocks/${encodeSegment(id)}`;
  return (
    <Page title={words.editTitle(title)}>
      {isPending ? (
        <Skeleton lines={10} />
      ) : (
        <BlockEditor
          // Creates a new form when the tool becomes available, so that its inputs can be edited.
          key={String(tool !== undefined)}
          {...{ texts }}
          onTextsChange={setTexts}
          schema={tool?.inputSchema}
          inputs={block.inputs}
          isChanged={texts.title !== title || texts.description !== description}
          label={words.saveChanges}
          save={(edits) =>
            changeBlock(
              id,
              {
                title: edits.title,
                description: edits.description.trim() === '' ? null : edits.description,
                ...(edits.inputs && { inputs: edits.inputs }),
              },
              version,
            )
          }
          onSaved={(saved) => {
            showToast('success', words.saved(saved.title));
            queryClient.setQueryData(blockQuery(id).queryKey, saved);
            navigate(blockUrl);
            return invalidateBlocks(queryClient);
          }}
          onCancel={() => navigate(blockUrl)}
          onReload={onReload}
        >
          {tools.data && tools.data.state !== 'connected' ? (
            <ServerStateNotice
              view={tools.data}
              isRetrying={tools.isFetching}
              onRetry={() => void tools.refetch()}
            />
          ) : (
            <Notice tone="warning" title={words.inputsUnavailableTitle}>
              {words.inputsUnavailableText}
            </Notice>
          )}
        </BlockEditor>
      )}
    </Page>
  );
}
