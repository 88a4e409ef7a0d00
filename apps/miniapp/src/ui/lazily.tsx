import { type ComponentType, useEffect, useState } from "react";

const PAUSE_MS = 2000;

/**
 * A component whose file is not part of the first load: few users see it. While it is shown it retries the load, so that a
 * lost connection only delays it.
 */
export function lazily<Module, Props extends object>(
  load: () => Promise<Module>,
  pick: (module: Module) => ComponentType<Props>,
  Waiting: ComponentType,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazily(props: Props) {
    const [Shown, setShown] = useState(() => loaded);
    const [failures, setFailures] = useState(0);
    useEffect(() => {
      if (Shown) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isCurrent = true;
      load().then(
        (module) => {
          loaded = pick(module);
          if (isCurrent) setShown(() => pick(module));
        },
        () => {
          if (isCurrent) timer = setTimeout(() => setFailures(failures + 1), PAUSE_MS);
        },
      );
      return () => {
        isCurrent = false;
        clearTimeout(timer);
      };
    }, [Shown, failures]);
    return Shown ? <Shown {...props} /> : <Waiting />;
  };
}
