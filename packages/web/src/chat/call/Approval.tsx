import { useMutation } from '@tanstack/react-query';
import { decideCall } from '../../api/chat.ts';
import { ApprovalQuestion } from '../../call/ApprovalQuestion.tsx';
import { useActions } from '../actions.ts';
import type { CallPartState } from '../session/messages.ts';
import { decided } from './decided.ts';

/** The question of a tool that asks first, in a conversation. */
export function Approval({
  part,
  expiresAt,
}: {
  readonly part: CallPartState;
  readonly expiresAt: number | undefined;
}) {
  const { session, focusComposer } = useActions();
  const { callId, tool, toolTitle, server, serverTitle, arguments: args } = part.state.get().call;
  const decide = useMutation({
    mutationFn: (approve: boolean) => decideCall(session.id.get() ?? '', callId, approve),
    onSuccess(_view, approve) {
      part.state.set(decided(part.state.get(), approve));
      focusComposer();
    },
  });
  return (
    <ApprovalQuestion
      {...{ tool, toolTitle, server, serverTitle, args, expiresAt }}
      deciding={decide.isPending ? (decide.variables ? 'approve' : 'deny') : undefined}
      error={decide.error}
      yieldsToTyping
      onDecide={decide.mutate}
    />
  );
}
