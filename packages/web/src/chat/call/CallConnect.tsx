import { useMutation } from '@tanstack/react-query';
import { reportConnected } from '../../api/chat.ts';
import { useStore } from '../../app/store.ts';
import { ConnectCard } from '../../call/ConnectCard.tsx';
import type { ConnectOptions } from '../../connect/connectController.ts';
import { connectControllers } from '../../connect/pageConnectControllers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { showError } from '../../ui/toasts.ts';
import { useConversationActions } from '../conversationActions.ts';
import type { CallPartState } from '../session/messages.ts';

/** A server that its user has to sign in to first, and how the conversation goes on afterwards. */
export function CallConnect({
  part,
  isHeld,
  isLast,
}: {
  readonly part: CallPartState;
  /** The answer waits for it. */
  readonly isHeld: boolean;
  readonly isLast: boolean;
}) {
  const words = strings.chat.connect;
  const { session, resend, focusComposer } = useConversationActions();
  const { callId, connect } = useStore(part.state).call;
  const { answering } = useStore(session.state);
  const id = useStore(session.id);
  const reportMutation = useMutation({
    mutationFn: (connected: boolean) => reportConnected(id ?? '', callId, connected),
    onSuccess: focusComposer,
    onError: showError,
  });
  if (!connect) return null;

  async function startConnect(server: string, options: ConnectOptions): Promise<void> {
    // The answer that waits hears of it wherever it was begun.
    if (await connectControllers.get(server).begin(options)) focusComposer();
  }
  return (
    <ConnectCard
      connect={connect}
      returnTo={id === undefined ? '/chat' : `/chat/${encodeURIComponent(id)}`}
      nextStepText={isHeld ? words.answerContinues : words.thenTryAgain}
      onStart={(options) => startConnect(connect.server, options)}
    >
      {(isConnected) =>
        isHeld ? (
          <Button
            size="small"
            isBusy={reportMutation.isPending}
            onClick={() => reportMutation.mutate(isConnected)}
          >
            {isConnected ? words.resume : words.continueWithout}
          </Button>
        ) : (
          isLast &&
          answering === 'no' && (
            <Button size="small" variant={isConnected ? 'primary' : 'plain'} onClick={resend}>
              {words.tryAgain}
            </Button>
          )
        )
      }
    </ConnectCard>
  );
}
