import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { dismissSignIn, goToSignIn, signIn } from './sessionState.ts';
import { useStore } from './store.ts';

/** Somebody ended the sign-in while the page was open. What is on it stays readable until they sign in again. */
export function SessionEnded() {
  const { shell, common } = strings;
  if (useStore(signIn) !== 'ended') return null;
  return (
    <Dialog
      title={shell.signedOutTitle}
      onClose={dismissSignIn}
      onSubmit={goToSignIn}
      actions={
        <>
          <Button onClick={dismissSignIn}>{common.close}</Button>
          <Button type="submit" look="primary">
            {shell.signIn}
          </Button>
        </>
      }
    >
      <p>{shell.signedOutText}</p>
    </Dialog>
  );
}
