import type { ConnectNeeded } from '@behalf/contracts';
import { ConnectCard } from '../call/ConnectCard.tsx';
import type { Wanted } from '../connect/connecting.ts';
import { connects } from '../connect/pageConnects.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { runs } from './pageRuns.ts';
import type { Run } from './run.ts';
import { toolAddress } from './toolAddress.ts';

/** A run that waits for its user to sign in. Who does so here wants this call: it is made by itself then. */
export function HeldRun({ run, connect }: { readonly run: Run; readonly connect: ConnectNeeded }) {
  const words = strings.tools.run;
  const { id, server, tool, args } = run;
  async function begin(wanted: Wanted): Promise<void> {
    if (await connects.of(server).begin(wanted)) await runs.goOn(id);
  }
  return (
    <ConnectCard
      connect={connect}
      returnTo={toolAddress(server, tool)}
      afterwards={words.afterSignIn}
      onBegin={begin}
      // The form is filled in again for who comes back.
      onLeave={() => history.replaceState(null, '', toolAddress(server, tool, args))}
    >
      {(isConnected) =>
        isConnected && (
          <Button size="small" look="primary" onClick={() => void runs.goOn(id)}>
            {words.goOn}
          </Button>
        )
      }
    </ConnectCard>
  );
}
