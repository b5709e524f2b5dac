import type { ConnectNeeded } from '@behalf/contracts';
import { ConnectCard } from '../call/ConnectCard.tsx';
import type { ConnectOptions } from '../connect/connectController.ts';
import { connectControllers } from '../connect/pageConnectControllers.ts';
import type { JsonRecord } from '../result/isRecord.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { runs } from './pageRuns.ts';
import type { Run } from './run.ts';
import { blockPath, toolPath } from './toolPaths.ts';

/** A run that waits for its user to sign in. Who does so here wants this call: it is made by itself then. */
export function HeldRun({ run, connect }: { readonly run: Run; readonly connect: ConnectNeeded }) {
  const words = strings.tools.run;
  const { id, server, tool, args, block } = run;
  const formPath = (formArgs?: JsonRecord) =>
    block ? blockPath(block.id, formArgs) : toolPath(server, tool, formArgs);
  async function startConnect(wanted: ConnectOptions): Promise<void> {
    // The credential that the run names is the one that has to be good again.
    const label = block?.credential;
    const options = { ...wanted, ...(label !== undefined && { label }) };
    if (await connectControllers.get(server).begin(options)) await runs.resume(id);
  }
  return (
    <ConnectCard
      connect={connect}
      returnTo={formPath()}
      nextStepText={words.afterSignIn}
      onStart={startConnect}
      // The form is filled in again for who comes back.
      onBeforeLeave={() => history.replaceState(null, '', formPath(block?.inputs ?? args))}
    >
      {(isConnected) =>
        isConnected && (
          <Button size="small" variant="primary" onClick={() => void runs.resume(id)}>
            {words.resume}
          </Button>
        )
      }
    </ConnectCard>
  );
}
