/** Entry point. */
import "../app.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { setBasePath } from "../api/base.ts";
import { createQueryClient } from "../api/query.ts";
import { ConfirmProvider } from "../parts/form/confirm.tsx";
import { ToastProvider } from "../parts/toast.tsx";
import { createAppRouter } from "./router.tsx";
import { sessionQuery } from "./session.ts";

// The server writes it into the document.
setBasePath(document.documentElement.dataset.base ?? "");
const client = createQueryClient(() => {
  // Either the session is over or a right is missing. A request for the session shows which, and the pages
  // follow.
  void client.refetchQueries({ queryKey: sessionQuery.queryKey });
});
const router = createAppRouter(client);

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Tooltip.Provider delayDuration={400}>
        <ToastProvider>
          <ConfirmProvider>
            <RouterProvider router={router} />
          </ConfirmProvider>
        </ToastProvider>
      </Tooltip.Provider>
    </QueryClientProvider>
  </StrictMode>,
);
