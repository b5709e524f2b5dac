import { useMutation } from '@tanstack/react-query';
import { decideApproval } from '../../api/chat.ts';
import { ApprovalRequest } from '../../call/ApprovalRequest.tsx';
import { useConversationActions } from '../conversationActions.ts';
import type { CallPartState } from '../session/messages.ts';
import { applyDecision } from './applyDecision.ts';

/** The question of a tool that asks first, in a conversation. */
export function CallApproval({
  part,
  expiresAt,
}: {
  readonly part: CallPartState;
  readonly expiresAt: number | undefined;
}) {
  const { session, focusComposer } = useConversationActions();
  const { callId, tool, toolTitle, server, serverTitle, arguments: args } = part.state.get().call;
  const decideMutation = useMutation({
    mutationFn: (approve: boolean) => decideApproval(session.id.get() ?? '', callId, approve),
    onSuccess(_view, approve) {
      part.state.set(applyDecision(part.state.get(), approve));
      focusComposer();
    },
  });
  return (
    <ApprovalRequest
      {...{ tool, toolTitle, server, serverTitle, args, expiresAt }}
      pendingDecision={decideMutation.isPending ? (decideMutation.variables ? 'approve' : 'deny') : undefined}
      error={decideMutation.error}
      keepsTypingFocus
      onDecide={decideMutation.mutate}
    />
  );
}
