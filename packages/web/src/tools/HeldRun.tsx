import type { ConnectNeeded } from '@behalf/contracts';
import { ConnectCard } from '../call/ConnectCard.tsx';
import type { ConnectOptions } from '../connect/connectController.ts';
import { connectControllers } from '../connect/pageConnectControllers.ts';
import type { JsonRecord } from '../result/isRecord.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { runs } from './pageRuns.ts';
import type { Run } from './run.ts';
import { blockAddress, toolAddress } from './toolAddress.ts';

/** A run that waits for its user to sign in. Who does so here wants this call: it is made by itself then. */
export function HeldRun({ run, connect }: { readonly run: Run; readonly connect: ConnectNeeded }) {
  const words = strings.tools.run;
  const { id, server, tool, args, block } = run;
  const at = (given?: JsonRecord) =>
    block ? blockAddress(block.id, given) : toolAddress(server, tool, given);
  async function begin(wanted: ConnectOptions): Promise<void> {
    // The credential that the run names is the one that has to be good again.
    const label = block?.credential;
    const whole = { ...wanted, ...(label !== undefined && { label }) };
    if (await connectControllers.get(server).begin(whole)) await runs.goOn(id);
  }
  return (
    <ConnectCard
      connect={connect}
      returnTo={at()}
      afterwards={words.afterSignIn}
      onBegin={begin}
      // The form is filled in again for who comes back.
      onLeave={() => history.replaceState(null, '', at(block?.inputs ?? args))}
    >
      {(isConnected) =>
        isConnected && (
          <Button size="small" variant="primary" onClick={() => void runs.goOn(id)}>
            {words.goOn}
          </Button>
        )
      }
    </ConnectCard>
  );
}
