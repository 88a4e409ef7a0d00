import type { LinkPageTexts } from "./link-page-texts.ts";

export const vi: LinkPageTexts = {
  go: "Mở trang",
  back: "Quay lại {bot}",
  pages: {
    "tap-needed": {
      title: "Chỉ cần nhấn thêm một lần",
      text: "Nhấn nút để mở trang. Lượt truy cập chỉ được tính khi có người thật nhấn nút.",
    },
    "tap-again": {
      title: "Nhấn lại một lần nữa",
      text: "Mạng của bạn vừa thay đổi hoặc trang đã mở quá lâu. Hãy nhấn thêm một lần, trang sẽ mở.",
    },
    machine: {
      title: "Liên kết dành cho một người",
      text: "Hãy mở liên kết này trong trình duyệt để xem nó dẫn đến đâu.",
    },
    "unknown-code": {
      title: "Liên kết này không dẫn đến đâu cả",
      text: "Có thể một phần liên kết đã bị mất. Hãy quay lại bot và mở liên kết từ đó.",
    },
    expired: {
      title: "Liên kết này đã hết hạn",
      text: "Những liên kết như thế này chỉ có hiệu lực ngắn. Hãy lấy liên kết mới từ bot.",
    },
    used: {
      title: "Liên kết này đã được dùng",
      text: "Liên kết đã được tính một lần và không còn gì khác để xem. Hãy lấy liên kết mới từ bot.",
    },
    cooldown: {
      title: "Hơi sớm một chút",
      text: "Quảng cáo trước vừa mới hiển thị. Liên kết này sẽ được tính lại {when}.",
    },
    "daily-cap": {
      title: "Hôm nay đã hết",
      text: "Bạn đã xem hết quảng cáo của một ngày. Quảng cáo tiếp theo sẽ có {when}.",
    },
    "no-ad": {
      title: "Hiện chưa có quảng cáo",
      text: "Lúc này chưa có gì để hiển thị. Liên kết của bạn vẫn dùng được: hãy thử lại sau một lúc.",
    },
    "address-limit": {
      title: "Hôm nay có nhiều lượt truy cập từ mạng của bạn",
      text: "Hôm nay có quá nhiều người truy cập từ mạng này nên chúng tôi không phân biệt được. Bạn vẫn có thể mở trang, nhưng lượt này không có thưởng. Liên kết của bạn vẫn dùng được: hãy thử từ mạng khác hoặc vào ngày mai.",
    },
    "too-many-visits": {
      title: "Quá nhiều lượt truy cập cùng lúc",
      text: "Liên kết này đã được mở quá nhiều lần từ mạng của bạn. Liên kết vẫn dùng được: hãy mở lại {when}.",
    },
    unavailable: {
      title: "Vui lòng thử lại",
      text: "Đã xảy ra lỗi từ phía chúng tôi. Liên kết của bạn vẫn chưa bị dùng: hãy mở lại sau giây lát.",
    },
  },
};
