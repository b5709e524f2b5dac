import { useMutation } from '@tanstack/react-query';
import { reportConnected } from '../../api/chat.ts';
import { useStore } from '../../app/store.ts';
import { ConnectCard } from '../../call/ConnectCard.tsx';
import type { ConnectOptions } from '../../connect/connectController.ts';
import { connectControllers } from '../../connect/pageConnectControllers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { showError } from '../../ui/toasts.ts';
import { useActions } from '../actions.ts';
import type { CallPartState } from '../session/messages.ts';

/** A server that its user has to sign in to first, and how the conversation goes on afterwards. */
export function Connect({
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
  const { session, sendAgain, focusComposer } = useActions();
  const { callId, connect } = useStore(part.state).call;
  const { writing } = useStore(session.state);
  const id = useStore(session.id);
  const telling = useMutation({
    mutationFn: (connected: boolean) => reportConnected(id ?? '', callId, connected),
    onSuccess: focusComposer,
    onError: showError,
  });
  if (!connect) return null;

  async function begin(server: string, wanted: ConnectOptions): Promise<void> {
    // The answer that waits hears of it wherever it was begun.
    if (await connectControllers.get(server).begin(wanted)) focusComposer();
  }
  return (
    <ConnectCard
      connect={connect}
      returnTo={id === undefined ? '/chat' : `/chat/${encodeURIComponent(id)}`}
      afterwards={isHeld ? words.held : words.afterwards}
      onBegin={(wanted) => begin(connect.server, wanted)}
    >
      {(isConnected) =>
        isHeld ? (
          <Button size="small" isBusy={telling.isPending} onClick={() => telling.mutate(isConnected)}>
            {isConnected ? words.goOn : words.without}
          </Button>
        ) : (
          isLast &&
          writing === 'no' && (
            <Button size="small" variant={isConnected ? 'primary' : 'plain'} onClick={sendAgain}>
              {words.again}
            </Button>
          )
        )
      }
    </ConnectCard>
  );
}
