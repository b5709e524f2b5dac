import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { dismissSessionEnded, goToSignIn, sessionStatus } from './sessionStatus.ts';
import { useStore } from './store.ts';

/** Somebody ended the sign-in while the page was open. What is on it stays readable until they sign in again. */
export function SessionEndedDialog() {
  const { shell, common } = strings;
  if (useStore(sessionStatus) !== 'ended') return null;
  return (
    <Dialog
      title={shell.signedOutTitle}
      onClose={dismissSessionEnded}
      onSubmit={goToSignIn}
      actions={
        <>
          <Button onClick={dismissSessionEnded}>{common.close}</Button>
          <Button type="submit" variant="primary">
            {shell.signIn}
          </Button>
        </>
      }
    >
      <p>{shell.signedOutText}</p>
    </Dialog>
  );
}
