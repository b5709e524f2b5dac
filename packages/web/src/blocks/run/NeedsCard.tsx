import type { CredentialNeed, MissingParts } from '@behalf/contracts';
import type { Ref } from 'react';
import { Link } from 'wouter';
import { ConnectCard } from '../../call/ConnectCard.tsx';
import { ServerName } from '../../call/ServerName.tsx';
import { useServerTitles } from '../../api/serverTitles.ts';
import { encodeSegment } from '../../api/request.ts';
import type { ConnectOptions } from '../../connect/connectController.ts';
import { connectControllers } from '../../connect/pageConnectControllers.ts';
import { strings } from '../../strings/strings.ts';
import { Card } from '../../ui/Card.tsx';
import styles from './BlockRunner.module.css';
import { needGroups } from './needGroups.ts';
import { NeedValues } from './NeedValues.tsx';

export interface NeedsProps {
  readonly missing: MissingParts;
  /** The server of a block, and what the block is called where there are several. */
  readonly serverOf: (block: string) => string;
  readonly titleOf?: (block: string) => string;
  /** What happens when one of them is met. */
  readonly afterwards: string;
  readonly returnTo: string;
  readonly onMet: () => void;
  readonly onLeave?: () => void;
  /** Whether a choice is offered on this page. */
  readonly offersChoice: boolean;
  readonly ref?: Ref<HTMLElement>;
}

/** Everything that has to be there before anything runs, server by server. */
export function NeedsCard(props: NeedsProps) {
  const words = strings.blocks.needs;
  const { missing, serverOf, titleOf, ref } = props;
  const serverTitle = useServerTitles();
  return (
    <Card className={styles['needs']} aria-label={words.title}>
      <h3 ref={ref as Ref<HTMLHeadingElement>} tabIndex={-1}>
        {words.title}
      </h3>
      {needGroups(missing, serverOf, serverTitle).map(({ key, address, titles, inputs, needs }) => (
        <section key={key} className={styles['group']} aria-label={titles.join(', ')}>
          <h4>{titles.join(', ')}</h4>
          {address !== undefined && <code className={styles['muted']}>{address}</code>}
          {inputs.length > 0 && (
            <div>
              <p>{words.inputs}</p>
              <ul className={styles['list']}>
                {inputs.map(({ block, name, title = name }) => (
                  <li key={`${block} ${name}`}>{titleOf ? words.ofBlock(title, titleOf(block)) : title}</li>
                ))}
              </ul>
              {!titleOf && <p className={styles['muted']}>{words.inputsHere}</p>}
            </div>
          )}
          {needs.map((need, index) => (
            <NeedView key={`${need.kind} ${need.server} ${index}`} need={need} {...props} />
          ))}
        </section>
      ))}
    </Card>
  );
}

function NeedView({
  need,
  afterwards,
  returnTo,
  onMet,
  onLeave,
  offersChoice,
}: NeedsProps & { readonly need: CredentialNeed }) {
  const words = strings.blocks.needs;
  const { server, title } = need;
  switch (need.kind) {
    case 'sign_in': {
      const { connectUrl, reason, label } = need;
      const begin = async (wanted: ConnectOptions) => {
        const whole = { ...wanted, ...(label !== undefined && { label }) };
        if (await connectControllers.get(server).begin(whole)) onMet();
      };
      return (
        <ConnectCard
          connect={{ server, title, reason, connectUrl }}
          returnTo={returnTo}
          afterwards={afterwards}
          onBegin={begin}
          {...(onLeave && { onLeave })}
        />
      );
    }
    case 'values':
      return <NeedValues server={server} values={need.values} onMet={onMet} />;
    case 'choose':
      return (
        <p>
          {offersChoice ? words.choose : words.chooseHere}{' '}
          {!offersChoice && (
            <>
              <ServerName server={server} title={title} />{' '}
              <Link href={`/servers/${encodeSegment(server)}`}>{words.toServer}</Link>
            </>
          )}
        </p>
      );
  }
}
